// The package exports every type of its API. The compiler checks this.
import { test } from "node:test";
import type {
  Action,
  BucketOptions,
  OpenOptions,
  Presigner,
  Reason,
  Store,
  StoreError,
  StoreErrorOptions,
  SweepReport,
} from "../src/index.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

function holds<_Check extends true>(): void {}

test("the types of options, reports and errors are exported by the package", () => {
  holds<Equal<NonNullable<OpenOptions["presign"]>, Presigner>>();
  holds<Equal<NonNullable<BucketOptions["presign"]>, Presigner>>();
  holds<Equal<Awaited<ReturnType<Store["sweep"]>>, SweepReport>>();
  holds<Equal<StoreError["reason"], Reason>>();
  holds<Equal<StoreError["action"], Action | undefined>>();
  holds<Equal<NonNullable<ConstructorParameters<typeof StoreError>[1]>, StoreErrorOptions>>();
});
