// Applies changes inside the writer's transaction: first all checks of a change, then, if all hold,
// its mutations. Blobs that lose their last reference are added to the garbage queue.
import { blobContext, verifyBytes, verifyText, withTextChecksum } from "../index/checksum.ts";
import { garbageBlobChecksum, garbageManifestChecksum } from "../index/checksummed-rows.ts";
import { existenceKey } from "../index/existence-index.ts";
import { isSoundPart, isSoundRow, type ObjectRow } from "../index/object-row.ts";
import { emptyBody, parseDeletedMark } from "../index/schema.ts";
import { corruptionError, type Database } from "../index/sqlite.ts";
import { prepareApplyStatements } from "./apply-statements.ts";
import type { WireChange, WireCheck, WireMutation, WireObject } from "./change.ts";

export interface Applier {
  /** Whether any process has deleted the bucket. */
  isDeleted(): boolean;
  /** Applies each change in order, completely or not at all. */
  apply(changes: readonly WireChange[]): ("committed" | "conflict")[];
}

export function createApplier(database: Database): Applier {
  const sql = prepareApplyStatements(database);
  let objects = 0;
  let bytes = 0;
  /** Whether a damaged row was overwritten, so that the totals must be counted again. */
  let isUncertain = false;

  function insertExistence(indexKey: Uint8Array): boolean {
    return Number(sql.insertExistence.run(indexKey).changes) > 0;
  }

  function deleteExistence(indexKey: Uint8Array): boolean {
    return Number(sql.deleteExistence.run(indexKey).changes) > 0;
  }

  function isSatisfied(check: WireCheck): boolean {
    if (check.kind === "object") {
      const row = sql.findVersion.get(check.key);
      if (row !== undefined) return row.version === check.version;
      // A key in the existence index without a row was lost. Report a conflict: the caller then
      // reads again and gets the damage error.
      return (
        check.version === undefined && sql.findExistence.get(existenceKey.object(check.key)) === undefined
      );
    }
    if (check.kind === "setting") return sql.findSetting[check.name].get()?.text === check.text;
    const row = sql.findUpload.get(check.key, check.id);
    return row?.active === 1 && (check.revision === undefined || check.revision === row.revision);
  }

  function findObject(key: Uint8Array): FoundObject | undefined {
    const row = sql.findObject.get(key);
    if (row === undefined) return undefined;
    const [version, size, inline, blob, stored, manifest, record, bytes] = row;
    return { version, size, inline, blob, stored, manifest, record, bytes };
  }

  /**
   * Adds the blobs of a replaced or deleted object to the garbage queue. A damaged row may name the
   * blobs of another object, so its blobs stay.
   */
  function release(key: Uint8Array, row: ObjectRow): void {
    if (!isSoundRow(key, row)) {
      isUncertain = true;
      return;
    }
    if (row.blob !== null) enqueueGarbage(row.blob);
    if (row.manifest !== null)
      sql.insertGarbage.run(null, row.manifest, garbageManifestChecksum(row.manifest, row.version));
    objects--;
    bytes -= row.size;
  }

  function enqueueGarbage(blob: string): void {
    sql.insertGarbage.run(blob, null, garbageBlobChecksum(blob));
  }

  function insertBlob(id: string, key: Uint8Array | null): void {
    sql.insertBlob.run(id, key);
    insertExistence(existenceKey.blob(id));
  }

  function deleteBlob(id: string): void {
    sql.deleteBlob.run(id);
    deleteExistence(existenceKey.blob(id));
  }

  function moveBody(key: Uint8Array, from: string, to: string): void {
    const row = findObject(key);
    if (row?.blob !== from || !isSoundRow(key, row)) return;
    insertBlob(to, key);
    sql.moveBody.run(to, rebindChecksum(row.record, row, { blob: to, stored: row.stored }), key);
    deleteBlob(from);
  }

  /**
   * Updates the record. If compaction has moved the body since the caller read it, the checksum is
   * computed for the new location.
   */
  function restateObject({ key, record, blob, stored }: WireObject): void {
    const row = blob === undefined ? undefined : findObject(key);
    const isMoved = row !== undefined && row.blob !== blob;
    sql.restateObject.run(isMoved ? rebindChecksum(record, { blob, stored }, row) : record, key);
  }

  function putObject(put: WireObject): void {
    const replaced = findObject(put.key);
    if (replaced !== undefined) release(put.key, replaced);
    // If table and existence index disagree, this put repairs both, and the totals must be
    // recounted.
    const isNew = insertExistence(existenceKey.object(put.key));
    if (isNew !== (replaced === undefined)) isUncertain = true;
    const inline = putInline(put.inline, replaced);
    const manifest = put.manifest === undefined ? null : sql.insertManifest.run(put.manifest).lastInsertRowid;
    if (put.blob !== undefined) insertBlob(put.blob, put.key);
    const { key, version, size, blob = null, stored = null, record } = put;
    if (replaced === undefined)
      sql.insertObject.run(key, version, size, inline, blob, stored, manifest, record);
    else sql.updateObject.run(version, size, inline, blob, stored, manifest, record, key);
    objects++;
    bytes += size;
  }

  /** Reuses the row of the replaced body: a new row would change more pages in every overwrite. */
  function putInline(
    body: Uint8Array | undefined,
    replaced: FoundObject | undefined,
  ): number | bigint | null {
    const hasRow = body !== undefined && body.length > 0;
    const row = replaced === undefined ? null : ownBody(replaced);
    if (hasRow && row !== null) {
      sql.updateBody.run(body, row);
      return row;
    }
    if (row !== null) sql.deleteBody.run(row);
    if (hasRow) return sql.insertBody.run(body).lastInsertRowid;
    return body === undefined ? null : emptyBody;
  }

  /** Returns the row id of the inline body. Null if damage changed it to the id of another body. */
  function ownBody({ inline, version, bytes }: FoundObject): number | null {
    if (inline === null || inline === emptyBody) return null;
    try {
      verifyBytes(version, bytes, "");
      return inline;
    } catch {
      return null;
    }
  }

  function deleteObject(key: Uint8Array): void {
    const row = findObject(key);
    const wasIndexed = deleteExistence(existenceKey.object(key));
    if (wasIndexed !== (row !== undefined)) isUncertain = true;
    if (row === undefined) return;
    release(key, row);
    putInline(undefined, row);
    sql.deleteObject.run(key);
  }

  function endParts(uploadId: string, taken: readonly number[]): void {
    const takenNumbers = new Set(taken);
    for (const row of sql.listParts.all(uploadId)) {
      if (!takenNumbers.has(row.number) && isSoundPart(uploadId, row)) enqueueGarbage(row.blob);
    }
    sql.deleteParts.run(uploadId);
    sql.deletePartsExistence.run(existenceKey.part(uploadId, 0), existenceKey.afterParts(uploadId));
  }

  function mutate(mutation: WireMutation): void {
    switch (mutation.kind) {
      case "put object":
        putObject(mutation);
        return;
      case "restate object":
        restateObject(mutation);
        return;
      case "put setting":
        sql.putSetting[mutation.name].run(mutation.text);
        return;
      case "add event":
        if (mutation.ifExists === undefined) sql.insertEvent.run(mutation.rule, mutation.event);
        else sql.insertEventIfObject.run(mutation.rule, mutation.event, mutation.ifExists);
        return;
      case "ack events":
        for (const entry of mutation.entries) sql.deleteEvent.run(entry);
        return;
      case "delete object":
        deleteObject(mutation.key);
        return;
      case "put upload": {
        const { key, id, active, due, record } = mutation;
        sql.putUpload.run(key, id, active ? 1 : 0, due, record);
        insertExistence(existenceKey.upload(key, id));
        return;
      }
      case "delete upload":
        endParts(mutation.id, []);
        sql.deleteUpload.run(mutation.key, mutation.id);
        deleteExistence(existenceKey.upload(mutation.key, mutation.id));
        return;
      case "put part": {
        const { uploadId, number, blob, record } = mutation;
        const replaced = sql.findPart.get(uploadId, number);
        if (replaced !== undefined && isSoundPart(uploadId, replaced)) enqueueGarbage(replaced.blob);
        insertBlob(blob, null);
        sql.putPart.run(uploadId, number, blob, record);
        insertExistence(existenceKey.part(uploadId, number));
        sql.touchUpload.run(uploadId);
        return;
      }
      case "end parts":
        endParts(mutation.uploadId, mutation.taken);
        return;
      case "ack garbage":
        for (const entry of mutation.entries) {
          sql.deleteGarbageManifest.run(entry);
          sql.deleteGarbage.run(entry);
        }
        for (const blob of mutation.blobs) deleteBlob(blob);
        return;
      case "move body":
        moveBody(mutation.key, mutation.from, mutation.to);
        return;
    }
  }

  return {
    isDeleted() {
      const isDeleted = parseDeletedMark(sql.bucket.get()?.deleted);
      if (isDeleted === undefined) throw corruptionError("The deletion mark of the bucket");
      return isDeleted;
    },
    apply(changes) {
      // Reset the counts: an earlier transaction may have failed halfway.
      objects = 0;
      bytes = 0;
      isUncertain = false;
      const outcomes = changes.map((change) => {
        if (!change.checks.every(isSatisfied)) return "conflict";
        for (const mutation of change.mutations) mutate(mutation);
        return "committed";
      });
      if (isUncertain) sql.countTotals.run();
      else if (objects !== 0 || bytes !== 0) sql.addTotals.run(objects, bytes);
      return outcomes;
    },
  };
}

type BodyLocation = { readonly blob: string | null | undefined; readonly stored: number | null | undefined };

/** Returns the record with its checksum computed for another location of the body. */
function rebindChecksum(record: string, from: BodyLocation, to: BodyLocation): string {
  const text = verifyText(record, "a record whose body is moved", blobContext(from.blob, from.stored));
  return withTextChecksum(text, blobContext(to.blob, to.stored));
}

/** An object's row with the bytes of its inline body. */
interface FoundObject extends ObjectRow {
  readonly bytes: unknown;
}
