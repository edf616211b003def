// Writes to a namespace that a process acknowledged before it was killed are stored.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openStore } from "../../../src/index.ts";
import { runUntilKilled } from "../../../src/prove/kill/run-until-killed.ts";
import { assertNothingLeftOver } from "../../support/disk/on-disk.ts";
import { createRandom } from "../../support/random.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import type { KvReport } from "./key-value-writer.ts";

test("acknowledged puts and deletes of a namespace survive kill -9 of their process", async (t) => {
  const directory = await temporaryDirectory(t);
  const first = await openStore(directory);
  await first.createKvNamespace("sessions");
  await first.close();
  const random = createRandom(7);
  for (let round = 0; round < 4; round++) {
    const task = { directory };
    const reports = await runUntilKilled<KvReport>({
      program: new URL("./key-value-writer.js", import.meta.url),
      task,
      random,
      reports: 400,
    });
    const acknowledged = new Map<string, string | null>();
    const attempted = new Map<string, string | null>();
    for (const { said, key, value } of reports) {
      (said === "done" ? acknowledged : attempted).set(key, value);
    }
    const store = await openStore(directory);
    for (const [key, value] of acknowledged) {
      const found = await store.kv("sessions").get(key);
      assert.ok(found === value || found === attempted.get(key), `${key} in round ${round}`);
    }
    await store.sweep();
    await store.close();
  }
  assertNothingLeftOver(directory);
});
