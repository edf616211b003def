// Names of binding classes. Scripts for Cloudflare Workers may detect buckets by class name:
// `value.constructor.name === "R2Bucket"`.
import { StoreBucket } from "../../../binding/bucket.ts";
import { StoreKvNamespace } from "../../../binding/kv-namespace.ts";

/** Applies to the whole process, which runs only one script. */
export function usePlatformClassNames(): void {
  rename(StoreBucket, "R2Bucket");
  rename(StoreKvNamespace, "KvNamespace");
}

function rename(target: { readonly prototype: object }, name: string): void {
  Object.defineProperty(target, "name", { value: name, configurable: true });
  Object.defineProperty(target.prototype, Symbol.toStringTag, { value: name, configurable: true });
}
