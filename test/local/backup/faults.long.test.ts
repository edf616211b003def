// If a backup fails at any sync or file creation, the previous or the new backup is complete. A
// failed restore leaves a directory that cannot be opened.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { realpath, rm } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openStore } from "../../../src/index.ts";
import { backUpStore, restoreStore, verifyBackup } from "../../../src/maintenance.ts";
import { createControl, type Fault } from "../../proof/disk/faults.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { buildDiskLibrary, calls } from "../../support/disk/disk-library.ts";
import { createRandom, type Random } from "../../support/random.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import { type Ended, runStore } from "./command.ts";
import { everythingIn } from "./scene.ts";

const syncs = calls.syncFile | calls.syncDirectory;

/**
 * Repeats the command while all system calls from the nth fail, for n = 1, 2, …, until it succeeds.
 */
async function failAtEach(
  t: TestContext,
  failing: number,
  command: (round: number) => { readonly root: string; readonly args: readonly string[] },
  check: (ended: Ended, round: number) => Promise<void>,
): Promise<void> {
  const tools = await temporaryDirectory(t);
  const library = buildDiskLibrary(tools);
  if (library === undefined) {
    console.error("NOT TESTED: failed calls under backups. There is no cc on this machine.");
    return t.skip("there is no cc on this machine");
  }
  const control = createControl(join(tools, "control"));
  const everAfter: Random = { ...createRandom(0), between: (_, last) => last, below: () => 1 };
  let round = 0;
  try {
    for (let hits = 1; hits > 0; ) {
      const { root, args } = command(++round);
      const error = constants.errno.EIO;
      const fault: Fault = { what: "", calls: failing, part: "", error, means: "refused", within: round };
      control.arm(root, fault, everAfter);
      const ended = await runStore(args, undefined, library.faultsBy(control.path));
      hits = control.disarm().hits;
      assert.equal(ended.code, hits === 0 ? 0 : 1, `${args.join(" ")}: ${ended.stderr}`);
      assert.doesNotMatch(ended.stderr, /^\s+at /m);
      await check(ended, round);
    }
  } finally {
    control.close();
  }
  t.diagnostic(`${round - 1} calls failed in turn`);
  assert.ok(round > 5);
}

test("after a backup fails at any sync or file creation, a complete backup exists", async (t) => {
  const directory = await realpath(await temporaryDirectory(t));
  const [data, root] = [join(directory, "data"), join(directory, "backup")];
  const store = await openStore(data);
  await store.createBucket("bucket");
  const put = (round: number) => store.bucket("bucket").put("body", sampleBytes(10_000 + round));
  await put(0);
  await backUpStore(data, root);
  await failAtEach(
    t,
    syncs | calls.create,
    () => ({ root, args: ["backup", "--data", data, "--to", root] }),
    async (_, round) => {
      const { damages, bytes } = await verifyBackup(root);
      assert.deepEqual(damages, [], `round ${round}`);
      assert.ok(bytes >= 10_000);
      await put(round);
    },
  );
  await store.close();
});

test("a restore that fails at any sync can be resumed, and its directory cannot be opened until then", async (t) => {
  const directory = await realpath(await temporaryDirectory(t));
  const [data, place] = [join(directory, "data"), join(directory, "backup")];
  const store = await openStore(data);
  await store.createBucket("bucket");
  for (const key of ["a", "b"]) await store.bucket("bucket").put(key, sampleBytes(10_000));
  await store.close();
  await backUpStore(data, place);
  const expected = await everythingIn(data);
  const target = (round: number) => join(directory, `restored-${round}`);
  await failAtEach(
    t,
    syncs,
    (round) => ({ root: target(round), args: ["restore", "--from", place, "--data", target(round)] }),
    async ({ code }, round) => {
      if (code !== 0 && existsSync(join(target(round), "restore.unfinished"))) {
        await assert.rejects(openStore(target(round)), /was not finished/);
        await restoreStore(place, target(round));
      }
      assert.deepEqual(await everythingIn(target(round)), expected, `round ${round}`);
      await rm(target(round), { recursive: true });
    },
  );
});
