// Bodies inside the writer's transaction: inline bodies, blobs and the garbage queue, each with its
// entry in the existence index.

import { existenceKey } from "../index/existence-index.ts";
import { verifyBytes } from "../rows/checksum.ts";
import { garbageBlobChecksum, garbageManifestChecksum } from "../rows/checksummed-rows.ts";
import type { ObjectRow } from "../rows/object-row.ts";
import { emptyBody } from "../rows/stored-body.ts";
import type { ApplyStatements } from "./apply-statements.ts";

/** A version's row with the bytes of its inline body. */
export interface FoundObject extends ObjectRow {
  readonly bytes: unknown;
}

export interface Bodies {
  /** Returns false if the index has the key already. */
  insertExistence(indexKey: Uint8Array): boolean;
  /** Returns false if the index does not have the key. */
  deleteExistence(indexKey: Uint8Array): boolean;
  enqueueGarbage(blob: string): void;
  insertBlob(id: string, key: Uint8Array | null): void;
  deleteBlob(id: string): void;
  /** Adds the blobs of a body that no other version shares to the garbage queue. */
  release(row: ObjectRow): void;
  /** Stores an inline body, or none, in place of the inline body of `replaced`. */
  putInline(body: Uint8Array | undefined, replaced: FoundObject | undefined): number | bigint | null;
}

export function createBodies(sql: ApplyStatements): Bodies {
  function insertExistence(indexKey: Uint8Array): boolean {
    return Number(sql.insertExistence.run(indexKey).changes) > 0;
  }

  function deleteExistence(indexKey: Uint8Array): boolean {
    return Number(sql.deleteExistence.run(indexKey).changes) > 0;
  }

  function enqueueGarbage(blob: string): void {
    sql.insertGarbage.run(blob, null, garbageBlobChecksum(blob));
  }

  return {
    insertExistence,
    deleteExistence,
    enqueueGarbage,
    insertBlob(id, key) {
      sql.insertBlob.run(id, key);
      insertExistence(existenceKey.blob(id));
    },
    deleteBlob(id) {
      sql.deleteBlob.run(id);
      deleteExistence(existenceKey.blob(id));
    },
    release({ blob, manifest, version }) {
      if (blob !== null) enqueueGarbage(blob);
      if (manifest !== null)
        sql.insertGarbage.run(null, manifest, garbageManifestChecksum(manifest, version));
    },
    /** Reuses the row of the replaced body: a new row would change more pages in every overwrite. */
    putInline(body, replaced) {
      const hasRow = body !== undefined && body.length > 0;
      const row = replaced === undefined ? null : ownBody(replaced);
      if (hasRow && row !== null) {
        sql.updateBody.run(body, row);
        return row;
      }
      if (row !== null) sql.deleteBody.run(row);
      if (hasRow) return sql.insertBody.run(body).lastInsertRowid;
      return body === undefined ? null : emptyBody;
    },
  };
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
