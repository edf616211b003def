// Decodes rows of the history and checks their columns against their records.
import { decodeVersion } from "../../engine/codec/version-codec.ts";
import { keyBytes } from "../../model/key.ts";
import { isDeleteMarker, type Version } from "../../model/version.ts";
import { blobContext, damagedError, verifyText, withTextChecksum } from "./checksum.ts";
import type { ObjectRow } from "./object-row.ts";

export interface HistoryRow extends ObjectRow {
  readonly entry: number;
  readonly key: Uint8Array;
  /** 0 for the null version of the key. */
  readonly versioned: number;
  readonly since: number;
  readonly until: number;
  readonly until_checksum: string;
}

/** Returns the checksum of a version's `until`: a wrong time could make lifecycle rules remove it. */
export function untilChecksum(version: string, until: number): string {
  return withTextChecksum("", `${version} ${until}`);
}

/** A delete marker has no body; even an empty body has a location. */
export function isMarkerRow({ inline, blob, manifest }: Omit<ObjectRow, "record">): boolean {
  return inline === null && blob === null && manifest === null;
}

/** Returns the text of the record of a version, current or not. */
export function recordText({ record, blob, stored }: ObjectRow, what: string): string {
  return verifyText(record, what, blobContext(blob, stored));
}

/** Throws if the row is damaged. */
export function decodeHistoryRow(row: HistoryRow): Version {
  const what = `a noncurrent version of "${Buffer.from(row.key).toString()}"`;
  const version = decodeVersion(recordText(row, what), isMarkerRow(row));
  const isSame =
    version.version === row.version &&
    (isDeleteMarker(version) ? 0 : version.size) === row.size &&
    version.uploaded === row.since &&
    untilChecksum(row.version, row.until) === row.until_checksum &&
    (version.isVersioned === true ? 1 : 0) === row.versioned &&
    Buffer.compare(keyBytes(version.key), row.key) === 0;
  if (!isSame) throw damagedError(what);
  return version;
}

/** Returns undefined if the row is damaged. */
export function readHistoryRow(row: HistoryRow): Version | undefined {
  try {
    return decodeHistoryRow(row);
  } catch {
    return undefined;
  }
}
