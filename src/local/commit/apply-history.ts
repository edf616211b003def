// Versions inside the writer's transaction. The newest version of a key is its row in the table of
// objects or, if it is a delete marker, its newest row in the history.
import { decodeVersion } from "../../engine/codec/version-codec.ts";
import { StoreError } from "../../model/errors.ts";
import type { Version } from "../../model/version.ts";
import { existenceKey } from "../index/existence-index.ts";
import type { Database } from "../index/sqlite.ts";
import { verifyText } from "../rows/checksum.ts";
import { isMarkerRow, orderChecksum, readHistoryRow, recordText } from "../rows/history-row.ts";
import { isSoundRow, type ObjectRow } from "../rows/object-row.ts";
import type { Bodies, FoundObject } from "./apply-bodies.ts";
import { type NewObject, type ObjectRows, rebindChecksum, restatedRecord } from "./apply-objects.ts";
import type { ApplyStatements } from "./apply-statements.ts";
import type { WireCopy, WireMarker } from "./change.ts";
import {
  createVersionOrder,
  type FoundHistoryRow,
  newestEntry,
  prepareHistoryStatements,
} from "./history-statements.ts";
import { createSharedBodies } from "./shared-bodies.ts";
import type { Tally } from "./tally.ts";

export interface History {
  /** Whether the version exists and its record has this text. */
  hasRecord(key: Uint8Array, version: string, text: string): boolean;
  put(put: NewObject): void;
  putCopy(copy: WireCopy): void;
  putMarker(marker: WireMarker): void;
  deleteVersion(key: Uint8Array, version: string): void;
  restate(put: NewObject): void;
  /** Replaces the record and the body of a version. */
  replaceBody(put: NewObject): void;
  /** Moves the body of all versions of the key that have this blob. */
  moveBody(key: Uint8Array, from: string, to: string): void;
}

export interface HistoryOptions {
  readonly database: Database;
  readonly sql: ApplyStatements;
  readonly bodies: Bodies;
  readonly objects: ObjectRows;
  readonly tally: Tally;
}

export function createHistory({ database, sql, bodies, objects, tally }: HistoryOptions): History {
  const history = prepareHistoryStatements(database);
  const order = createVersionOrder(database);
  const shared = createSharedBodies(database, bodies);

  /** Appends the newest row of a key. */
  function insert(
    key: Uint8Array,
    { version, uploaded, isVersioned }: Version,
    row: ObjectRow,
    until: number,
  ) {
    const { size, inline, blob, stored, manifest, record } = row;
    const versioned = isVersioned === true ? 1 : 0;
    const isOldest = order.isEmpty(key) ? 1 : 0;
    const checksum = orderChecksum({ version, until, shownUntil: until, isOldest });
    const times = [uploaded, until, until, isOldest, checksum] as const;
    history.insert.run(key, version, versioned, ...times, size, inline, blob, stored, manifest, record);
    bodies.insertExistence(existenceKey.version(key, version));
    if (versioned === 0) bodies.insertExistence(existenceKey.nullVersion(key));
    tally.noncurrent++;
    tally.noncurrentBytes += size;
  }

  function deleteRow({ entry, key, version, versioned, size, is_oldest }: FoundHistoryRow): void {
    history.delete.run(entry);
    if (!bodies.deleteExistence(existenceKey.version(key, version))) tally.isUncertain = true;
    if (versioned === 0) bodies.deleteExistence(existenceKey.nullVersion(key));
    if (is_oldest !== 0) order.markOldest(key);
    tally.noncurrent--;
    tally.noncurrentBytes -= size;
  }

  /** Removes a row and its body. A damaged row may name another body, so that body stays. */
  function removeRow(row: FoundHistoryRow): void {
    if (readHistoryRow(row) === undefined) tally.isUncertain = true;
    else shared.release(row);
    bodies.putInline(undefined, row);
    deleteRow(row);
  }

  /**
   * Prepares the key for a new version: removes a null version that it replaces and moves the current
   * object to the history. Returns the current object if the new version replaces it.
   */
  function retire(key: Uint8Array, next: Version): { row?: FoundObject; isReplaced: boolean } {
    const row = objects.find(key);
    const current = row === undefined ? undefined : readCurrent(key, row);
    const isNullCurrent = current !== undefined && current.isVersioned !== true;
    const removed = next.isVersioned !== true && !isNullCurrent ? history.findNull.get(key) : undefined;
    if (removed !== undefined) removeRow(removed);
    if (row === undefined) {
      const newest = history.newest.get(key);
      if (newest?.until === Number.POSITIVE_INFINITY && isMarkerRow(newest))
        order.setUntil(newest, next.uploaded);
    }
    order.endOlder(key, next.uploaded);
    if (removed !== undefined) {
      const end = Math.min(removed.shown_until, next.uploaded);
      order.showOlder(key, { entry: removed.entry, shown_until: end }, end);
    }
    if (row === undefined) return { isReplaced: false };
    // A damaged row is overwritten, as in a bucket without versions: it has no history.
    if (current === undefined || (isNullCurrent && next.isVersioned !== true)) {
      order.showOlder(key, { entry: newestEntry, shown_until: next.uploaded }, next.uploaded);
      return { row, isReplaced: true };
    }
    insert(key, current, row, next.uploaded);
    tally.objects--;
    tally.bytes -= row.size;
    return { row, isReplaced: false };
  }

  function put(put: NewObject): void {
    const version = decodeVersion(recordText(toRow(put), "a record to store"), false);
    const { row, isReplaced } = retire(put.key, version);
    if (isReplaced) objects.replace(put, row, shared.release);
    else objects.write(put, row);
  }

  /** Makes the newest version of the history current. The key has no row in the table of objects. */
  function promote(key: Uint8Array): void {
    const row = history.newest.get(key);
    // A noncurrent version was removed, and a delete marker is still current.
    if (row === undefined || row.until === Number.POSITIVE_INFINITY) return;
    if (isMarkerRow(row)) order.setUntil(row, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    else {
      deleteRow(row);
      const { version, size, inline, blob, stored, manifest, record } = row;
      sql.insertObject.run(key, version, size, inline, blob, stored, manifest, record);
      if (!bodies.insertExistence(existenceKey.object(key))) tally.isUncertain = true;
      tally.objects++;
      tally.bytes += size;
    }
    order.showOlder(key, row, row.since);
  }

  function find(key: Uint8Array, version: string): FoundObject | FoundHistoryRow | undefined {
    const current = objects.find(key);
    return current?.version === version ? current : history.find.get(version, key);
  }

  return {
    hasRecord(key, version, text) {
      const row = find(key, version);
      return row !== undefined && recordText(row, "the record of a version") === text;
    },
    put,
    putCopy(copy) {
      const source = find(copy.key, copy.of);
      if (source === undefined || isMarkerRow(source))
        throw new StoreError("Damaged", { detail: "The version whose body is copied does not exist." });
      put(shared.copy(copy, source));
    },
    putMarker({ key, version, record }) {
      const marker = decodeVersion(verifyText(record, "a delete marker to store"), true);
      const { row, isReplaced } = retire(key, marker);
      if (isReplaced) objects.remove(key, row, shared.release);
      else if (row !== undefined) {
        sql.deleteObject.run(key);
        if (!bodies.deleteExistence(existenceKey.object(key))) tally.isUncertain = true;
      }
      const none = { inline: null, blob: null, stored: null, manifest: null };
      insert(key, marker, { version, size: 0, ...none, record }, Number.POSITIVE_INFINITY);
    },
    deleteVersion(key, version) {
      const current = objects.find(key);
      if (current?.version === version) {
        objects.remove(key, current, shared.release);
        promote(key);
        return;
      }
      const row = history.find.get(version, key);
      if (row === undefined) return;
      removeRow(row);
      order.showOlder(key, row, row.shown_until);
      if (current === undefined) promote(key);
    },
    restate(put) {
      const row = find(put.key, put.version);
      if (row === undefined) return;
      if (!("entry" in row)) {
        objects.restate(put, row);
        return;
      }
      history.restate.run(restatedRecord(put, row), row.entry);
    },
    replaceBody(put) {
      const row = find(put.key, put.version);
      if (row === undefined) throw new StoreError("Damaged", { detail: "The replaced version is missing." });
      if (!("entry" in row)) {
        objects.replace(put, row, shared.release);
        return;
      }
      if (readHistoryRow(row) === undefined) tally.isUncertain = true;
      else shared.release(row);
      const inline = bodies.putInline(put.inline, row);
      const manifest =
        put.manifest === undefined ? null : sql.insertManifest.run(put.manifest).lastInsertRowid;
      if (put.blob !== undefined) bodies.insertBlob(put.blob, put.key);
      const location = [inline, put.blob ?? null, put.stored ?? null, manifest] as const;
      history.replaceBody.run(...location, put.record, row.entry);
    },
    moveBody(key, from, to) {
      const current = objects.find(key);
      const isCurrent = current?.blob === from;
      const rows = history.withBlob.all(from, key);
      if (!isCurrent && rows.length === 0) return;
      // A row that cannot be updated keeps the blob for all.
      if (isCurrent && !isSoundRow(key, current)) return;
      if (rows.some((row) => readHistoryRow(row) === undefined)) return;
      bodies.insertBlob(to, key);
      if (isCurrent) sql.moveBody.run(to, movedRecord(current, to), key);
      for (const row of rows) history.moveBody.run(to, movedRecord(row, to), row.entry);
      shared.move(from, to);
      bodies.deleteBlob(from);
    },
  };
}

function movedRecord(row: ObjectRow, to: string): string {
  return rebindChecksum(row.record, row, { blob: to, stored: row.stored });
}

/** Returns undefined if the row of a current object is damaged. */
function readCurrent(key: Uint8Array, row: FoundObject): Version | undefined {
  return isSoundRow(key, row) ? decodeVersion(recordText(row, "a record"), false) : undefined;
}

/** Returns the columns of the row that the checksum of a new object's record covers. */
function toRow({ version, size, blob, stored, record }: NewObject): ObjectRow {
  return { version, size, inline: null, blob: blob ?? null, stored: stored ?? null, manifest: null, record };
}
