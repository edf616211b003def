// `store prove`: a report of what held, of what a broken disk lost, and after Ctrl-C.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createRunner } from "../../in-process.ts";
import { openShell, outcomeOf } from "../../store.ts";

test("prove reports what was tried on this machine, exits with 0 and removes its folder", async (t) => {
  const shell = await openShell(t);
  const text = await shell.store("prove", ".", "--only", "full-disk", "--for", "1s", "--seed", "7", "--json");
  const { seed, held, isInterrupted, machine, results } = JSON.parse(text);
  assert.deepEqual({ seed, held, isInterrupted }, { seed: 7, held: true, isInterrupted: false });
  assert.equal(machine.node, process.version);
  assert.equal(machine.directory, shell.directory);
  assert.deepEqual(
    results.map(({ name, outcome }: { name: string; outcome: string }) => [name, outcome]),
    [["full disk", "held"]],
  );
  const [{ claim, counts }] = results;
  assert.match(claim, /RLIMIT_FSIZE.*The disk itself is not filled/);
  assert.ok(counts["rounds without space"] >= 1 && counts["acknowledged writes"] > 0, JSON.stringify(counts));
  assert.deepEqual(await readdir(shell.directory), []);
});

test("prove on a disk that loses files says what was lost and exits with 1", async (t) => {
  const shell = await openShell(t);
  const child = shell.start(["prove", ".", "--only", "kill", "--for", "1h"]);
  const ended = outcomeOf(child);
  let isOver = false;
  void ended.finally(() => {
    isOver = true;
  });
  // The disk of this test loses every body as soon as it is stored.
  while (!isOver) await removeBodies(shell.directory);
  const { code, stdout } = await ended;
  assert.equal(code, 1, stdout);
  assert.match(stdout, /kill: FAILED/);
  assert.match(stdout, /Reason: .*\S/);
  assert.match(stdout, /NOT everything held: kill/);
  assert.deepEqual(await readdir(shell.directory), []);
});

async function removeBodies(directory: string): Promise<void> {
  const names = await readdir(directory, { recursive: true }).catch(() => []);
  for (const name of names) {
    if (/\/segments\/[^/]+$|\/blobs\/[^/]+\/[^/]+$/.test(name))
      await rm(join(directory, name), { force: true, recursive: true });
  }
}

test("Ctrl-C ends prove with a report and removes its folder", async (t) => {
  const shell = await openShell(t);
  const child = shell.start(["prove", ".", "--only", "kill", "--for", "1h"]);
  const ended = outcomeOf(child);
  await once(child.stderr, "data");
  child.kill("SIGINT");
  const { code, stdout } = await ended;
  assert.equal(code, "SIGINT");
  assert.match(stdout, /Interrupted\. What was tried until then held\./);
  assert.deepEqual(await readdir(shell.directory), []);
});

test("prove refuses folders that it must not use and wrong options, and creates nothing", async (t) => {
  const shell = await openShell(t);
  const { directory } = shell;
  await mkdir(join(directory, "store/buckets"), { recursive: true });
  await writeFile(join(directory, "store/registry.db"), "");
  await writeFile(join(directory, "file"), "");
  const { fails } = createRunner({ directory });
  assert.match(await fails("prove", "store"), /^1: .*is the data directory of a store[\s\S]*another folder/);
  assert.match(await fails("prove", "store/buckets"), /^1: .*is the data directory of a store/);
  assert.match(await fails("prove", "missing"), /^1: .*does not exist\.[\s\S]*Create it/);
  assert.match(await fails("prove", "file"), /^1: .*is a file/);
  assert.match(await fails("prove", "s3://bucket"), /^2: /);
  assert.match(await fails("prove", ".", "--for", "soon"), /^2: .*is not a duration/);
  assert.match(await fails("prove", ".", "--for", "31d"), /^2: .*at most 30d/);
  assert.match(await fails("prove", ".", "--only", "kill,luck"), /^2: .*unknown proof, "luck"/);
  assert.match(await fails("prove", ".", "--seed", "-1"), /^2: .*/);
  assert.match(await fails("prove", ".", "--seed", "x"), /^2: .*whole number/);
  assert.deepEqual((await readdir(directory)).sort(), ["file", "store"]);
});
