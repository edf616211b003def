// Decodes rows of the history and checks their columns against their records.
import { Buffer } from "node:buffer";
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
  readonly shown_until: number;
  /** 1 if the key has no older version. */
  readonly is_oldest: number;
  readonly order_checksum: string;
}

/** The columns of a version that its record does not have. */
export interface VersionOrder {
  readonly version: string;
  readonly until: number;
  readonly shownUntil: number;
  readonly isOldest: number;
}

/** A wrong time could show a version that was replaced, or make lifecycle rules remove it. */
export function orderChecksum({ version, until, shownUntil, isOldest }: VersionOrder): string {
  return withTextChecksum("", `${version} ${until} ${shownUntil} ${isOldest}`);
}

/** Whether the columns are those that were written. */
export function isSoundOrder(
  row: Pick<HistoryRow, "version" | "until" | "shown_until" | "is_oldest" | "order_checksum">,
): boolean {
  const { version, until, shown_until: shownUntil, is_oldest: isOldest } = row;
  return orderChecksum({ version, until, shownUntil, isOldest }) === row.order_checksum;
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
    isSoundOrder(row) &&
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
