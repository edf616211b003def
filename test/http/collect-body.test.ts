import assert from "node:assert/strict";
import { test } from "node:test";
import { collectBody } from "../../src/http/collect-body.ts";

test("a body is collected whatever its chunks are, up to the limit", async () => {
  async function* chunks(...texts: readonly string[]) {
    for (const text of texts) yield Buffer.from(text);
  }
  assert.equal(String(await collectBody(chunks("ab", "", "cde"), 5)), "abcde");
  assert.equal(String(await collectBody(chunks(), 5)), "");
  assert.equal(await collectBody(chunks("ab", "cdef"), 5), undefined);
});

test("chunks of one byte are copied, so that they can be freed", async () => {
  const count = 1000;
  const reused = Buffer.alloc(1);
  async function* chunks() {
    for (let i = 0; i < count; i++) {
      reused[0] = 97 + (i % 26);
      yield reused;
    }
  }
  const bytes = await collectBody(chunks(), count);
  assert.equal(bytes?.length, count);
  assert.equal(String(bytes?.subarray(0, 3)), "abc");
});
