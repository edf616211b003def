// Empty blob folders are removed; otherwise a store that is reopened often would accumulate them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openStore } from "../../../src/index.ts";
import { KiB, MiB } from "../../support/bodies.ts";
import { assertNothingLeftOver, emptyFolders } from "../../support/disk/on-disk.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import { withAgents } from "../agents/agents.ts";

const bucket = "tidy";
const value = { name: "1", size: 20 * KiB };

test("the next sweep removes empty folders that a closed or killed process left", async (t) => {
  const directory = await temporaryDirectory(t);
  for (const ending of ["closed", "killed", "killed before it wrote"]) {
    await withAgents(directory, 1, async (agent) => {
      if (ending === "closed") await agent!.ask({ do: "create bucket", bucket });
      if (ending === "killed before it wrote") {
        await agent!.ask({ do: "begin put", bucket, key: "key", value: { name: "half", size: MiB } });
        return;
      }
      await agent!.ask({ do: "put", bucket, key: "key", value });
      await agent!.ask({ do: "delete", bucket, keys: ["key"] });
      await agent!.ask({ do: "sweep" });
      if (ending === "closed") await agent!.ask({ do: "close" });
    });
  }
  const store = await openStore(directory);
  await store.sweep();
  await store.close();
  assertNothingLeftOver(directory);
  assert.deepEqual(emptyFolders(directory), []);
});
