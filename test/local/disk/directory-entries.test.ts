// A write is acknowledged only after all directory entries on the path of its files are synced.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { KiB } from "../../support/bodies.ts";
import { unsyncedEntries } from "../../support/disk/directory-entries.ts";
import { buildDiskLibrary } from "../../support/disk/disk-library.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import { type Agent, withAgents } from "../agents/agents.ts";

/** Files that need not be durable: locks, WAL indexes and rollback journals of databases. */
const passing = /\.lock(-journal)?$|-shm$|-journal$/;

test("the directory entries of all files and folders of an acknowledged write are synced", async (t) => {
  const tools = await temporaryDirectory(t);
  const library = buildDiskLibrary(tools);
  if (library === undefined) {
    console.error("NOT TESTED: syncs of directories. There is no cc on this machine.");
    return t.skip("there is no cc on this machine");
  }
  const notes = join(tools, "notes");
  const unsynced = () => unsyncedEntries(readFileSync(notes, "utf8")).filter((entry) => !passing.test(entry));
  const directory = join(await temporaryDirectory(t), "made", "on", "the way");
  const work = async (agent: Agent) => {
    const bucket = "bucket";
    await agent.ask({ do: "create bucket", bucket });
    assert.deepEqual(unsynced(), [], "after a new bucket");
    for (const size of [10, 64 * KiB, 300 * KiB]) {
      await agent.ask({ do: "put", bucket, key: `k ${size}`, value: { name: "v", size } });
      assert.deepEqual(unsynced(), [], `after a put of ${size} bytes`);
    }
    const value = { name: "parts", size: 300 * KiB };
    await agent.ask({ do: "put parts", bucket, key: "parts", value, partSize: 100 * KiB });
    assert.deepEqual(unsynced(), [], "after a completed upload");
  };
  await withAgents(directory, 1, (agent) => work(agent!), { env: library.notesBy(notes) });
  assert.match(readFileSync(notes, "utf8"), /^\+.*\/the way$/m, "the parent folders were recorded");
});
