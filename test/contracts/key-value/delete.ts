// Contract: a delete removes a key, and a missing key is not an error.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Scenes } from "./scene.ts";

export function deleteContract(scenes: Scenes): void {
  test("get and list do not return a deleted key", async () => {
    const { kv } = await scenes.shared();
    await kv.put("a", "value");
    await kv.put("b", "value");
    assert.equal(await kv.delete("a"), undefined);
    assert.equal(await kv.get("a"), null);
    assert.deepEqual((await kv.list()).keys, [{ name: "b" }]);
  });

  test("a delete of a missing key succeeds", async () => {
    const { kv } = await scenes.shared();
    await kv.delete("missing");
    await kv.delete("missing");
  });
}
