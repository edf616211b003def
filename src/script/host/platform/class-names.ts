// Names of the classes of bindings. Scripts written for another platform find their buckets in env by the name of
// their class: `value.constructor.name === "R2Bucket"`.
import { StoreBucket } from "../../../binding/bucket.ts";
import { StoreKvNamespace } from "../../../binding/kv-namespace.ts";

/** For the whole process, which runs one script. */
export function usePlatformClassNames(): void {
  rename(StoreBucket, "R2Bucket");
  rename(StoreKvNamespace, "KvNamespace");
}

function rename(target: { readonly prototype: object }, name: string): void {
  Object.defineProperty(target, "name", { value: name, configurable: true });
  Object.defineProperty(target.prototype, Symbol.toStringTag, { value: name, configurable: true });
}
