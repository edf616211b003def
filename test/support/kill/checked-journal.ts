// The journal of writes with checks of the files on disk, which only tests know.
import assert from "node:assert/strict";
import { createWriteJournal, type WriteJournal } from "../../../src/prove/kill/write-journal.ts";
import { openFiles } from "../../script/inside.ts";
import { assertNothingLeftOver } from "../disk/on-disk.ts";

export function createCheckedJournal(buckets: readonly string[]): WriteJournal {
  return createWriteJournal(buckets, assertRecoveredFiles);
}

export function assertRecoveredFiles(directory: string): void {
  const held = openFiles(process.pid, directory).filter((path) => path.includes("/blobs/"));
  assert.deepEqual(held, [], "no file of a blob is open");
  assertNothingLeftOver(directory);
}
