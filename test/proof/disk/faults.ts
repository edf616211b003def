// The disk faults the proof injects, the effect each must have, and the file that controls them.
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { constants } from "node:os";
import { calls, control, controlBytes } from "../../support/disk/disk-library.ts";
import type { Random } from "../../support/random.ts";

const { EIO, ENOSPC, EDQUOT, EMFILE } = constants.errno;

/**
 * Effect on the callers. Fenced: no further write is acknowledged. Refused: one operation fails,
 * and the next succeeds. Full: as refused, with the disk-full error. Either: fenced or refused.
 */
export type Meaning = "fenced" | "refused" | "full" | "either";

export interface Fault {
  readonly what: string;
  readonly calls: number;
  /** Part of the file path to match; a trailing dollar sign anchors it at the end. */
  readonly part: string;
  readonly error: number;
  readonly means: Meaning;
  /** The call fails at a random occurrence from 1 to this number. */
  readonly within: number;
  /** Multiplies the load, for calls that are rare. */
  readonly load?: number;
}

const syncs = calls.syncFile | calls.syncDirectory;
const log = "records.db-wal$";
const database = "records.db$";
const body = "/blobs/";
const segment = "/segments/";

export const faults: readonly Fault[] = [
  { what: "sync of a body", calls: calls.syncFile, part: body, error: EIO, means: "fenced", within: 20 },
  { what: "sync of a body", calls: calls.syncFile, part: body, error: ENOSPC, means: "full", within: 20 },
  {
    what: "sync of a body's folder",
    calls: calls.syncDirectory,
    part: body,
    error: EIO,
    means: "fenced",
    within: 12,
  },
  {
    what: "sync of a body's folder",
    calls: calls.syncDirectory,
    part: body,
    error: ENOSPC,
    means: "fenced",
    within: 12,
  },
  {
    what: "sync of any folder",
    calls: calls.syncDirectory,
    part: "",
    error: EIO,
    means: "fenced",
    within: 20,
  },
  { what: "any sync", calls: syncs, part: "", error: EIO, means: "fenced", within: 40 },
  { what: "sync of the log", calls: calls.syncFile, part: log, error: EIO, means: "fenced", within: 30 },
  { what: "sync of the log", calls: calls.syncFile, part: log, error: ENOSPC, means: "fenced", within: 30 },
  {
    what: "sync of the database",
    calls: calls.syncFile,
    part: database,
    error: EIO,
    means: "fenced",
    within: 1,
    load: 8,
  },
  { what: "write of a body", calls: calls.write, part: body, error: EIO, means: "refused", within: 40 },
  { what: "write of a body", calls: calls.write, part: body, error: ENOSPC, means: "full", within: 40 },
  { what: "write of a body", calls: calls.write, part: body, error: EDQUOT, means: "full", within: 40 },
  {
    what: "sync of a segment",
    calls: calls.syncFile,
    part: segment,
    error: EIO,
    means: "fenced",
    within: 20,
  },
  {
    what: "sync of a segment",
    calls: calls.syncFile,
    part: segment,
    error: ENOSPC,
    means: "full",
    within: 20,
  },
  {
    what: "sync of the folder of segments",
    calls: calls.syncDirectory,
    part: "/segments$",
    error: EIO,
    means: "fenced",
    within: 2,
  },
  { what: "write of a segment", calls: calls.write, part: segment, error: EIO, means: "refused", within: 20 },
  { what: "write of a segment", calls: calls.write, part: segment, error: ENOSPC, means: "full", within: 20 },
  { what: "write of a segment", calls: calls.write, part: segment, error: EDQUOT, means: "full", within: 20 },
  { what: "read of a segment", calls: calls.read, part: segment, error: EIO, means: "refused", within: 20 },
  { what: "making a segment", calls: calls.create, part: segment, error: ENOSPC, means: "full", within: 2 },
  {
    what: "making a segment",
    calls: calls.create,
    part: segment,
    error: EMFILE,
    means: "refused",
    within: 2,
  },
  { what: "write of the log", calls: calls.write, part: log, error: EIO, means: "fenced", within: 200 },
  { what: "write of the log", calls: calls.write, part: log, error: ENOSPC, means: "full", within: 200 },
  {
    what: "write of the database",
    calls: calls.write,
    part: database,
    error: EIO,
    means: "fenced",
    within: 20,
    load: 8,
  },
  { what: "read of a body", calls: calls.read, part: body, error: EIO, means: "refused", within: 20 },
  { what: "read of the log", calls: calls.read, part: log, error: EIO, means: "either", within: 40 },
  { what: "read of the database", calls: calls.read, part: database, error: EIO, means: "either", within: 5 },
  { what: "making a body's file", calls: calls.create, part: body, error: ENOSPC, means: "full", within: 20 },
  { what: "making a body's file", calls: calls.create, part: body, error: EIO, means: "refused", within: 20 },
  {
    what: "making a body's file",
    calls: calls.create,
    part: body,
    error: EMFILE,
    means: "refused",
    within: 20,
  },
  {
    what: "making a folder's marker",
    calls: calls.create,
    part: "/open/",
    error: ENOSPC,
    means: "full",
    within: 2,
  },
];

export interface Control {
  readonly path: string;
  /** Injects the fault for files below `root` from now on. */
  arm(root: string, fault: Fault, random: Random): void;
  /** Stops injecting; returns the number of failed calls and the file of the last one. */
  disarm(): { readonly hits: number; readonly file: string };
  close(): void;
}

export function createControl(path: string): Control {
  const file = openSync(path, "w+");
  writeSync(file, Buffer.alloc(controlBytes), 0, controlBytes, 0);
  const put = (at: number, value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value);
    writeSync(file, bytes, 0, 4, at);
  };
  return {
    path,
    arm(root, fault, random) {
      const text = Buffer.alloc(2048);
      text.write(root, 0);
      text.write(fault.part, control.part - control.root);
      writeSync(file, text, 0, text.length, control.root);
      put(control.error, fault.error);
      put(control.countdown, random.between(1, fault.within));
      put(control.lasting, random.below(2));
      put(control.hits, 0);
      put(control.calls, fault.calls);
    },
    disarm() {
      put(control.calls, 0);
      const bytes = Buffer.alloc(controlBytes);
      readSync(file, bytes, 0, controlBytes, 0);
      const text = bytes.subarray(control.hit);
      return { hits: bytes.readInt32LE(control.hits), file: text.toString("utf8", 0, text.indexOf(0)) };
    },
    close: () => closeSync(file),
  };
}
