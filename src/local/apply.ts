// Applies changes to a bucket's database, inside the writer's transaction: first every check of a change,
// then, when all hold, every mutation, with what it leaves without a name buried beside it.

import type { WireChange, WireCheck, WireMutation, WireObject } from "./changes.ts";
import type { Database } from "./database.ts";
import { emptyBody } from "./schema.ts";

interface ObjectRow {
  readonly version: string;
  readonly size: number;
  readonly inline: number | null;
  readonly blob: string | null;
  readonly manifest: number | null;
}

export interface Applier {
  /** True when the bucket was deleted, by whichever process. */
  isDeleted(): boolean;
  /** Each change by itself, all of it or nothing, in order. */
  apply(changes: readonly WireChange[]): ("committed" | "conflict")[];
}

export function createApplier(database: Database): Applier {
  const sql = prepare(database);
  let objects = 0;
  let bytes = 0;

  function holds(check: WireCheck): boolean {
    if (check.kind === "object") {
      const row = sql.findObject.get(check.key) as unknown as ObjectRow | undefined;
      return row?.version === check.version;
    }
    const row = sql.findUpload.get(check.key, check.id) as { active: number; revision: number } | undefined;
    return row?.active === 1 && (check.revision === undefined || check.revision === row.revision);
  }

  /** Lets go of what an object row names but its inline bytes: files once they are swept. */
  function release(row: ObjectRow): void {
    if (row.blob !== null) sql.bury.run(row.blob, null);
    if (row.manifest !== null) sql.bury.run(null, row.manifest);
    objects--;
    bytes -= row.size;
  }

  function putObject(put: WireObject): void {
    const replaced = sql.findObject.get(put.key) as unknown as ObjectRow | undefined;
    if (replaced !== undefined) release(replaced);
    const inline = putInline(put.inline, replaced?.inline ?? null);
    const manifest = put.manifest === undefined ? null : sql.insertManifest.run(put.manifest).lastInsertRowid;
    if (put.blob !== undefined) sql.insertBlob.run(put.blob);
    const { key, version, size, blob = null, stored = null, record } = put;
    if (replaced === undefined)
      sql.insertObject.run(key, version, size, inline, blob, stored, manifest, record);
    else sql.updateObject.run(version, size, inline, blob, stored, manifest, record, key);
    objects++;
    bytes += size;
  }

  /** Into the row of the body it replaces: a new one would change further pages, for every overwrite. */
  function putInline(body: Uint8Array | undefined, replaced: number | null): number | bigint | null {
    const hasRow = body !== undefined && body.length > 0;
    const hadRow = replaced !== null && replaced !== emptyBody;
    if (hasRow && hadRow) {
      sql.updateBody.run(body, replaced);
      return replaced;
    }
    if (hadRow) sql.deleteBody.run(replaced);
    if (hasRow) return sql.insertBody.run(body).lastInsertRowid;
    return body === undefined ? null : emptyBody;
  }

  function deleteObject(key: Uint8Array): void {
    const row = sql.findObject.get(key) as unknown as ObjectRow | undefined;
    if (row === undefined) return;
    release(row);
    putInline(undefined, row.inline);
    sql.deleteObject.run(key);
  }

  function endParts(uploadId: string, taken: readonly number[]): void {
    const kept = new Set(taken);
    for (const row of sql.listParts.all(uploadId) as unknown as { number: number; blob: string }[]) {
      if (!kept.has(row.number)) sql.bury.run(row.blob, null);
    }
    sql.deleteParts.run(uploadId);
  }

  function mutate(mutation: WireMutation): void {
    switch (mutation.kind) {
      case "put object":
        putObject(mutation);
        return;
      case "restate object":
        sql.restateObject.run(mutation.record, mutation.key);
        return;
      case "put setting":
        (mutation.name === "cors" ? sql.putCors : sql.putLifecycle).run(mutation.text);
        return;
      case "delete object":
        deleteObject(mutation.key);
        return;
      case "put upload": {
        const { key, id, active, due, record } = mutation;
        sql.putUpload.run(key, id, active ? 1 : 0, due, record);
        return;
      }
      case "delete upload":
        endParts(mutation.id, []);
        sql.deleteUpload.run(mutation.key, mutation.id);
        return;
      case "put part": {
        const { uploadId, number, blob, record } = mutation;
        const replaced = sql.findPart.get(uploadId, number) as { blob: string } | undefined;
        if (replaced !== undefined) sql.bury.run(replaced.blob, null);
        sql.insertBlob.run(blob);
        sql.putPart.run(uploadId, number, blob, record);
        sql.touchUpload.run(uploadId);
        return;
      }
      case "end parts":
        endParts(mutation.uploadId, mutation.taken);
        return;
      case "forget":
        for (const entry of mutation.entries) {
          sql.deleteBuriedManifest.run(entry);
          sql.deleteBuried.run(entry);
        }
        for (const blob of mutation.blobs) sql.deleteBlob.run(blob);
        return;
    }
  }

  return {
    isDeleted: () => (sql.bucket.get() as { deleted: number }).deleted === 1,
    apply(changes) {
      // Also after a transaction that failed half way.
      objects = 0;
      bytes = 0;
      const outcomes = changes.map((change) => {
        if (!change.checks.every(holds)) return "conflict";
        for (const mutation of change.mutations) mutate(mutation);
        return "committed";
      });
      if (objects !== 0 || bytes !== 0) sql.addTotals.run(objects, bytes);
      return outcomes;
    },
  };
}

function prepare(database: Database) {
  const sql = (text: string) => database.prepare(text);
  return {
    bucket: sql("SELECT deleted FROM bucket"),
    addTotals: sql("UPDATE bucket SET objects = objects + ?, bytes = bytes + ?"),
    findObject: sql("SELECT version, size, inline, blob, manifest FROM objects WHERE key = ?"),
    insertObject: sql(
      "INSERT INTO objects (key, version, size, inline, blob, stored, manifest, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    updateObject: sql(
      "UPDATE objects SET version = ?, size = ?, inline = ?, blob = ?, stored = ?, manifest = ?, record = ? WHERE key = ?",
    ),
    restateObject: sql("UPDATE objects SET record = ? WHERE key = ?"),
    putCors: sql("UPDATE bucket SET cors = ?"),
    putLifecycle: sql("UPDATE bucket SET lifecycle = ?"),
    deleteObject: sql("DELETE FROM objects WHERE key = ?"),
    insertBody: sql("INSERT INTO bodies (bytes) VALUES (?)"),
    updateBody: sql("UPDATE bodies SET bytes = ? WHERE id = ?"),
    deleteBody: sql("DELETE FROM bodies WHERE id = ?"),
    insertManifest: sql("INSERT INTO manifests (parts) VALUES (?)"),
    insertBlob: sql("INSERT INTO blobs (id) VALUES (?)"),
    deleteBlob: sql("DELETE FROM blobs WHERE id = ?"),
    bury: sql("INSERT INTO buried (blob, manifest) VALUES (?, ?)"),
    deleteBuried: sql("DELETE FROM buried WHERE entry = ?"),
    deleteBuriedManifest: sql(
      "DELETE FROM manifests WHERE id = (SELECT manifest FROM buried WHERE entry = ?)",
    ),
    findUpload: sql("SELECT active, revision FROM uploads WHERE key = ? AND id = ?"),
    putUpload: sql(
      "INSERT INTO uploads (key, id, active, due, revision, record) VALUES (?, ?, ?, ?, 1, ?) ON CONFLICT (key, id) " +
        "DO UPDATE SET active = excluded.active, due = excluded.due, revision = revision + 1, record = excluded.record",
    ),
    touchUpload: sql("UPDATE uploads SET revision = revision + 1 WHERE id = ?"),
    deleteUpload: sql("DELETE FROM uploads WHERE key = ? AND id = ?"),
    findPart: sql("SELECT blob FROM parts WHERE upload = ? AND number = ?"),
    putPart: sql("REPLACE INTO parts (upload, number, blob, record) VALUES (?, ?, ?, ?)"),
    listParts: sql("SELECT number, blob FROM parts WHERE upload = ?"),
    deleteParts: sql("DELETE FROM parts WHERE upload = ?"),
  };
}
