// The responses of the bucket protocol to every error of the engine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { errorResponse, isFault } from "../../../src/capability/bucket/errors.ts";
import { type Reason, reasonTable, StoreError } from "../../../src/model/errors.ts";

function parse(error: unknown) {
  const { status, headers } = errorResponse(error);
  const header = new Map(headers).get("cf-r2-error")!;
  return { status, ...JSON.parse(Buffer.from(header, "latin1").toString()) };
}

test("every reason has an error status, its own code and its message without a prefix", () => {
  for (const [reason, [v4code, message]] of Object.entries(reasonTable)) {
    const parsed = parse(new StoreError(reason as Reason, { action: "put" }));
    assert.ok(parsed.status >= 400, reason);
    assert.deepEqual([parsed.version, parsed.v4code, parsed.message], [1, v4code, message], reason);
  }
});

test("only a missing key is a missing object, and only a failed condition is a precondition", () => {
  for (const reason of Object.keys(reasonTable) as Reason[]) {
    const { status, v4code } = parse(new StoreError(reason));
    assert.equal(status === 404 && v4code === 10007, reason === "NoSuchKey", reason);
    assert.equal(status === 412, reason === "PreconditionFailed", reason);
  }
});

test("an unexpected error is an internal error, and its text stays in the log", () => {
  const error = new TypeError("a secret detail");
  const { status, v4code, message } = parse(error);
  assert.deepEqual([status, v4code], [500, 10001]);
  assert.doesNotMatch(message, /secret/);
  assert.equal(isFault(error), true);
  assert.equal(isFault(new StoreError("Damaged")), true);
  assert.equal(isFault(new StoreError("NoSuchKey")), false);
});
