// Random frames on the socket of a bucket: every one gets an answer that blames the sender.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { openScene } from "./scene.ts";

const methods = [
  ...["head", "get", "list", "put", "delete", "createMultipartUpload", "uploadPart"],
  ...["completeMultipartUpload", "abortMultipartUpload"],
];

const names = [
  ...["object", "objects", "range", "rangeHeader", "onlyIf", "ssec", "customFields", "httpFields", "md5"],
  ...["sha1", "storageClass", "uploadId", "partNumber", "parts", "limit", "prefix", "cursor", "delimiter"],
  ...["startAfter", "include", "newRuntime"],
];

const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom("a", "", 0, 1, -1, 1e300, "18446744073709551615", [], {}, [{}], true),
);

const frame = fc.tuple(
  fc.constantFrom(...methods),
  fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 4 }),
);

test("no random frame causes an internal error, a hang or a line in the log", async (t) => {
  const { send, log } = await openScene(t);
  const isPrintable = (fields: object) => !JSON.stringify(fields).includes("\x7f");
  const property = fc.asyncProperty(frame, async ([method, fields]) => {
    fc.pre(isPrintable(fields));
    const { status, code } = await send({ object: "a", ...fields, method });
    assert.ok(status === 200 || (status >= 400 && status < 500), `${status}`);
    assert.equal(code === undefined, status === 200);
  });
  await fc.assert(property, { numRuns: 400 });
  assert.deepEqual(log, []);
});
