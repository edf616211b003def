import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { StoreError } from "../../src/model/errors.ts";

const error = new StoreError("NoSuchUpload", { action: "uploadPart", cause: new Error("inner") });

test("a StoreError has no fields that JSON or Object.keys show", async () => {
  assert.equal(JSON.stringify(error), "{}");
  assert.equal(await Response.json(error).text(), "{}");
  assert.deepEqual([Object.keys(error), { ...error }], [[], {}]);
});

test("a StoreError has a name, a reason, a code, an action and a message with the last two", () => {
  assert.deepEqual(
    [error.name, error.reason, error.code, error.action],
    ["StoreError", "NoSuchUpload", 10024, "uploadPart"],
  );
  assert.equal(error.message, "uploadPart: The specified multipart upload does not exist. (10024)");
});

test("a printed StoreError starts with its name and message, and does not repeat them", () => {
  const text = inspect(error);
  assert.ok(
    text.startsWith("StoreError: uploadPart: The specified multipart upload does not exist. (10024)\n"),
  );
  assert.doesNotMatch(text, /reason|code:|action/);
});
