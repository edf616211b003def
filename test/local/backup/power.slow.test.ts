// A backup or restore that reports success is durable: it survives an immediate power cut.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { verifyBackup } from "../../../src/maintenance.ts";
import { installTools, makeDisk, type PowerDisk } from "../../proof/power/disk.ts";
import { NotTested } from "../../proof/proof.ts";
import { unsyncedEntries } from "../../support/disk/directory-entries.ts";
import { buildDiskLibrary } from "../../support/disk/disk-library.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import { runStore } from "./command.ts";
import { everythingIn, fillStore, openPlaces } from "./scene.ts";

/** Files that need not be durable: locks, WAL indexes and rollback journals of databases. */
const passing = /lock(-journal)?$|-shm$|-journal$/;

for (const fileSystem of ["ext4", "xfs"] as const) {
  test(`a completed backup and restore survive a power cut on ${fileSystem}`, async (t) => {
    const folder = await temporaryDirectory(t);
    let disk: PowerDisk;
    try {
      installTools();
      disk = makeDisk(folder, fileSystem);
    } catch (error) {
      if (!(error instanceof NotTested)) throw error;
      console.error(`NOT TESTED: power cuts after backups on ${fileSystem}. ${error.message}`);
      return t.skip(error.message);
    }
    try {
      const { data } = await openPlaces(t);
      await fillStore(data);
      const expected = await everythingIn(data);
      const place = join(disk.directory, "above", "backup");
      const target = join(disk.directory, "further", "above", "data");
      for (const args of [
        ["backup", "--data", data, "--to", place],
        ["backup", "--data", data, "--to", place],
        ["restore", "--from", place, "--data", target],
      ]) {
        const { code, stderr } = await runStore(args);
        assert.equal(code, 0, stderr);
        disk.cut();
        await disk.restore();
        assert.deepEqual((await verifyBackup(place)).damages, [], args.join(" "));
      }
      assert.deepEqual(await everythingIn(target), expected);
    } finally {
      await disk.remove();
    }
  });
}

test("the directory entries of all files and folders of a backup and of a restore are synced", async (t) => {
  const tools = await temporaryDirectory(t);
  const library = buildDiskLibrary(tools);
  if (library === undefined) {
    console.error("NOT TESTED: syncs of directories by backups. There is no cc on this machine.");
    return t.skip("there is no cc on this machine");
  }
  const { data, backup, restored } = await openPlaces(t);
  await fillStore(data);
  const notes = join(tools, "notes");
  const runs = [
    { root: backup, args: ["backup", "--data", data, "--to", backup] },
    { root: backup, args: ["backup", "--data", data, "--to", backup] },
    { root: restored, args: ["restore", "--from", backup, "--data", restored] },
  ];
  for (const { root, args } of runs) {
    const { code, stderr } = await runStore(args, undefined, library.notesBy(notes));
    assert.equal(code, 0, stderr);
    const noted = readFileSync(notes, "utf8");
    assert.match(noted, new RegExp(`^\\+${root}/.*/records\\.db$`, "m"), "created files are recorded");
    const unsynced = unsyncedEntries(noted)
      // A file has the suffix .partial until it is complete.
      .map((entry) => entry.replace(/\.partial$/, ""))
      .filter((entry) => entry.startsWith(root) && existsSync(entry) && !passing.test(entry));
    assert.deepEqual(unsynced, [], args.join(" "));
    await rm(notes);
  }
});
