// Under a public access block no policy gives an anonymous caller anything, whatever it says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { anonymous, type Caller } from "../../../src/access/decide.ts";
import { parsePolicy } from "../../../src/access/policy/parse.ts";
import { type Policy, PolicyError } from "../../../src/access/policy/policy.ts";
import { isPublicPolicy } from "../../../src/access/policy/public-status.ts";
import type { Bucket } from "../../../src/model/bucket.ts";
import { openEngine } from "../../../src/open.ts";
import { decideAccess } from "../../../src/s3/auth/authorize.ts";
import type { BucketOperationName } from "../../../src/s3/operation-rights.ts";
import { parseQuery } from "../../../src/s3/request.ts";
import { seeded } from "../../support/random.ts";
import { type AnyonePolicy, generateAnyone } from "./anyone.ts";

const bucket: Bucket = {
  name: "photos",
  created: 1,
  storageClass: "Standard",
  account: "default",
  settings: {},
};
const operations = [
  ...["GetObject", "GetObjectTagging", "PutObject", "DeleteObject", "DeleteObjects", "ListObjectsV2"],
  ...["CreateMultipartUpload", "PostObject", "GetBucketAcl", "PutBucketPolicy"],
] as readonly BucketOperationName[];

const block = {
  blockPublicAcls: false,
  ignorePublicAcls: false,
  blockPublicPolicy: false,
  restrictPublicBuckets: true,
};

async function createAsk(t: { after(run: () => Promise<void>): void }) {
  const { engine } = await openEngine("memory:");
  t.after(() => engine.close());
  /** Returns the operations that the caller may run. */
  return async ({ text, address, headers }: AnyonePolicy, caller: Caller, isBlocked: boolean) => {
    const request = {
      header: (name: string) => headers[name],
      query: parseQuery(""),
      http: { address: () => address, scheme: "http" as const },
    };
    const settings = { policy: text, ...(isBlocked ? { publicAccessBlock: block } : {}) };
    const allowed: string[] = [];
    for (const name of operations) {
      const wanted = { name, key: "a/b", prefix: "a/" };
      const context = { engine, caller, request, now: Date.now };
      const decided = decideAccess(context, { ...bucket, settings }, wanted);
      if ((typeof decided === "string" ? decided : await decided) !== "denied") allowed.push(name);
    }
    return allowed;
  };
}

function parse(text: string): Policy | undefined {
  try {
    return parsePolicy(text, bucket.name);
  } catch (error) {
    assert.ok(error instanceof PolicyError, String(error));
    return undefined;
  }
}

test("of 1,000 policies that mean anyone, none lets an anonymous caller or a stranger pass the block", (t) =>
  seeded(async (random) => {
    const allowedBy = await createAsk(t);
    const stranger: Caller = { accessKeyId: "STOREOTHER", account: "other", grants: undefined };
    let [open, refused] = [0, 0];
    for (let i = 0; i < 1000; i++) {
      const policy = generateAnyone(random, bucket.name);
      const parsed = parse(policy.text);
      const passed = await allowedBy(policy, anonymous, false);
      if (parsed === undefined) {
        refused++;
        assert.deepEqual(passed, [], policy.text);
      } else {
        // What lets anyone in is also what a block refuses when it is put.
        assert.ok(isPublicPolicy(parsed), policy.text);
        if (passed.length > 0) open++;
      }
      assert.deepEqual(await allowedBy(policy, anonymous, true), [], policy.text);
      assert.deepEqual(await allowedBy(policy, stranger, true), [], policy.text);
    }
    assert.ok(
      open >= 800 && refused >= 40,
      `${open} let a caller in without the block, ${refused} are refused`,
    );
  }));
