// Current objects inside the writer's transaction. In a bucket that was never versioned, a put
// replaces the object of its key.

import { existenceKey } from "../index/existence-index.ts";
import { blobContext, verifyText, withTextChecksum } from "../rows/checksum.ts";
import { isSoundRow, type ObjectRow } from "../rows/object-row.ts";
import type { Bodies, FoundObject } from "./apply-bodies.ts";
import type { ApplyStatements } from "./apply-statements.ts";
import type { WireObject } from "./change.ts";
import type { Tally } from "./tally.ts";

/** An object to store. A shared blob is already in the table of blobs. */
export type NewObject = Omit<WireObject, "kind"> & { readonly isShared?: true };

/** Adds the blobs of a replaced or deleted object to the garbage queue. */
export type Release = (row: ObjectRow) => void;

export interface ObjectRows {
  find(key: Uint8Array): FoundObject | undefined;
  /** Stores the object in place of `replaced`, which was found under its key. */
  replace(put: NewObject, replaced: FoundObject | undefined, release?: Release): void;
  /** Stores the object. A row under its key is overwritten; its body stays. */
  write(put: NewObject, row: FoundObject | undefined): void;
  /** Removes the object of the key, if any. */
  remove(key: Uint8Array, row: FoundObject | undefined, release?: Release): void;
  restate(put: NewObject, row: ObjectRow | undefined): void;
}

export function createObjectRows(sql: ApplyStatements, bodies: Bodies, tally: Tally): ObjectRows {
  /** A damaged row may name the blobs of another object, so its blobs stay. */
  function releaseIfSound(key: Uint8Array, row: ObjectRow, release: Release): void {
    if (!isSoundRow(key, row)) {
      tally.isUncertain = true;
      return;
    }
    release(row);
    tally.objects--;
    tally.bytes -= row.size;
  }

  function store(put: NewObject, row: FoundObject | undefined, replaced: FoundObject | undefined): void {
    // If table and existence index disagree, this put repairs both, and the totals must be
    // recounted.
    const isNew = bodies.insertExistence(existenceKey.object(put.key));
    if (isNew !== (row === undefined)) tally.isUncertain = true;
    const inline = bodies.putInline(put.inline, replaced);
    const manifest = put.manifest === undefined ? null : sql.insertManifest.run(put.manifest).lastInsertRowid;
    if (put.blob !== undefined && put.isShared === undefined) bodies.insertBlob(put.blob, put.key);
    const { key, version, size, blob = null, stored = null, record } = put;
    if (row === undefined) sql.insertObject.run(key, version, size, inline, blob, stored, manifest, record);
    else sql.updateObject.run(version, size, inline, blob, stored, manifest, record, key);
    tally.objects++;
    tally.bytes += size;
  }

  return {
    find(key) {
      const row = sql.findObject.get(key);
      if (row === undefined) return undefined;
      const [version, size, inline, blob, stored, manifest, record, bytes] = row;
      return { version, size, inline, blob, stored, manifest, record, bytes };
    },
    replace(put, replaced, release = bodies.release) {
      if (replaced !== undefined) releaseIfSound(put.key, replaced, release);
      store(put, replaced, replaced);
    },
    write: (put, row) => store(put, row, undefined),
    remove(key, row, release = bodies.release) {
      const wasIndexed = bodies.deleteExistence(existenceKey.object(key));
      if (wasIndexed !== (row !== undefined)) tally.isUncertain = true;
      if (row === undefined) return;
      releaseIfSound(key, row, release);
      bodies.putInline(undefined, row);
      sql.deleteObject.run(key);
    },
    restate(put, row) {
      sql.restateObject.run(restatedRecord(put, row), put.key);
    },
  };
}

/**
 * Returns the new record of a version. If compaction has moved the body since the caller read it,
 * the checksum is computed for the new location.
 */
export function restatedRecord({ record, blob, stored }: NewObject, row: ObjectRow | undefined): string {
  const isMoved = row !== undefined && row.blob !== (blob ?? null);
  return isMoved ? rebindChecksum(record, { blob, stored }, row) : record;
}

export type BodyLocation = {
  readonly blob: string | null | undefined;
  readonly stored: number | null | undefined;
};

/** Returns the record with its checksum computed for another location of the body. */
export function rebindChecksum(record: string, from: BodyLocation, to: BodyLocation): string {
  const text = verifyText(record, "a record whose body is moved", blobContext(from.blob, from.stored));
  return withTextChecksum(text, blobContext(to.blob, to.stored));
}
