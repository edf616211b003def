// Spec 4 list rule 3 and 9.1: when include is honoured.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BucketOptions, StoreBucket, StoreListOptions, StoreObject } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import { sharedBucket } from "./support.ts";

type Include = StoreListOptions["include"];

const httpMetadata = { contentType: "text/plain", cacheExpiry: new Date(1_000_000) };
const customMetadata = { name: "value" };

/** Each value of include, and whether list then returns HTTP metadata and custom metadata. */
const includes: readonly (readonly [Include, http: boolean, custom: boolean])[] = [
  [undefined, false, false],
  [[], false, false],
  [["httpMetadata"], true, false],
  [["customMetadata"], false, true],
  [["httpMetadata", "customMetadata"], true, true],
  [["customMetadata", "httpMetadata", "httpMetadata"], true, true],
];

async function listed(bucket: StoreBucket, include: Include): Promise<StoreObject> {
  const [object] = (await bucket.list({ include })).objects;
  assert.ok(object !== undefined);
  return object;
}

function assertCarries(object: StoreObject, http: boolean, custom: boolean): void {
  if (http) assert.deepEqual({ ...object.httpMetadata }, httpMetadata);
  else assert.equal(object.httpMetadata, undefined);
  if (custom) assert.deepEqual({ ...object.customMetadata }, customMetadata);
  else assert.equal(object.customMetadata, undefined);
}

const honouring: readonly (readonly [string, BucketOptions])[] = [
  ["the compatibility date is 2022-08-04", { compatibilityDate: "2022-08-04" }],
  ["the compatibility date is 2022-08-05", { compatibilityDate: "2022-08-05" }],
  ["the compatibility date is 2025-01-01", { compatibilityDate: "2025-01-01" }],
  ["no compatibility date is given", {}],
  [
    "store_list_honor_include is set and the compatibility date is 2022-08-03",
    { compatibilityDate: "2022-08-03", compatibilityFlags: ["store_list_honor_include"] },
  ],
  [
    "store_list_honor_include is set among other flags",
    {
      compatibilityDate: "2021-01-01",
      compatibilityFlags: ["store_delimited_prefixes_keep_delimiter", "store_list_honor_include"],
    },
  ],
];

const ignoring: readonly (readonly [string, BucketOptions])[] = [
  ["the compatibility date is 2022-08-03", { compatibilityDate: "2022-08-03" }],
  ["the compatibility date is 2021-12-31", { compatibilityDate: "2021-12-31", compatibilityFlags: [] }],
  [
    "the compatibility date is 2022-08-03 and only other flags are set",
    { compatibilityDate: "2022-08-03", compatibilityFlags: ["store_delimited_prefixes_keep_delimiter"] },
  ],
];

export function compatibilitySentences(implementation: Implementation): void {
  describe("compatibility dates and flags behave as the spec states", () => {
    const open = sharedBucket(implementation);

    for (const [when, options] of honouring) {
      test(`spec 4 list rule 3, spec 9.1: list honours include when ${when}`, async () => {
        const { store, bucket } = await open();
        await bucket.put("key", "value", { httpMetadata, customMetadata });
        const binding = store.bucket("bucket", options);
        for (const [include, http, custom] of includes) {
          assertCarries(await listed(binding, include), http, custom);
        }
      });
    }

    for (const [when, options] of ignoring) {
      test(`spec 4 list rule 3, spec 9.1: list ignores include and returns all metadata when ${when}`, async () => {
        const { store, bucket } = await open();
        await bucket.put("key", "value", { httpMetadata, customMetadata });
        const binding = store.bucket("bucket", options);
        for (const [include] of includes) assertCarries(await listed(binding, include), true, true);
        const [object] = (await binding.list()).objects;
        assert.ok(object !== undefined);
        assertCarries(object, true, true);
      });
    }

    test("spec 4 list rule 3: a list that does not honour include accepts even an invalid value of include", async () => {
      const { store, bucket } = await open();
      await bucket.put("key", "value", { httpMetadata, customMetadata });
      const binding = store.bucket("bucket", { compatibilityDate: "2022-08-03" });
      for (const nonsense of [["nonsense"], "nonsense", 5, {}, null]) {
        assertCarries(await listed(binding, nonsense as unknown as Include), true, true);
      }
    });

    test("spec 2.12: include may contain httpMetadata, and listed items then carry that metadata", async () => {
      const { bucket } = await open();
      await bucket.put("key", "value", { httpMetadata, customMetadata });
      const object = await listed(bucket, ["httpMetadata"]);
      assertCarries(object, true, false);
      const headers = new Headers();
      object.writeHttpMetadata(headers);
      assert.equal(headers.get("content-type"), "text/plain");
    });

    test("spec 2.12: include may contain customMetadata, and listed items then carry that metadata", async () => {
      const { bucket } = await open();
      await bucket.put("key", "value", { httpMetadata, customMetadata });
      assertCarries(await listed(bucket, ["customMetadata"]), false, true);
    });

    test("spec 2.12: a listed object without metadata has empty metadata if include requests it", async () => {
      const { bucket } = await open();
      await bucket.put("key", "value");
      const object = await listed(bucket, ["httpMetadata", "customMetadata"]);
      assert.deepEqual({ ...object.httpMetadata }, {});
      assert.deepEqual({ ...object.customMetadata }, {});
      assert.ok(object.httpMetadata !== undefined && object.customMetadata !== undefined);
    });

    test("spec 2.12: writeHttpMetadata of an item listed without httpMetadata throws an error that names include", async () => {
      const { bucket } = await open();
      await bucket.put("key", "value", { httpMetadata });
      for (const include of [undefined, ["customMetadata" as const]]) {
        const object = await listed(bucket, include);
        assert.throws(() => object.writeHttpMetadata(new Headers()), {
          name: "TypeError",
          message: /httpMetadata/,
        });
      }
    });

    test("spec 9.1: the compatibility date and flag affect the listed metadata, not the listed keys", async () => {
      const { store, bucket } = await open();
      await Promise.all(["a/1", "a/2", "b"].map((key) => bucket.put(key, "value", { customMetadata })));
      for (const options of [...honouring, ...ignoring].map(([, each]) => each)) {
        const page = await store.bucket("bucket", options).list();
        assert.deepEqual(
          page.objects.map((object) => object.key),
          ["a/1", "a/2", "b"],
        );
        assert.equal(page.truncated, false);
      }
    });
  });
}
