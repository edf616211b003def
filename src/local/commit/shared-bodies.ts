// Bodies that several versions of a key share: inline bodies and lists of parts are copied and bound
// to the new version, blobs are counted.
import { StoreError } from "../../model/errors.ts";
import type { Database } from "../index/sqlite.ts";
import { damagedError, verifyBytes, verifyText, withChecksum, withTextChecksum } from "../rows/checksum.ts";
import { recordText } from "../rows/history-row.ts";
import type { ObjectRow } from "../rows/object-row.ts";
import { emptyBody, ownedParts } from "../rows/stored-body.ts";
import type { Bodies, FoundObject } from "./apply-bodies.ts";
import { type NewObject, rebindChecksum } from "./apply-objects.ts";
import type { WireCopy } from "./change.ts";
import { createSharedBlobs } from "./shared-blobs.ts";

export interface SharedBodies {
  /** Returns a new object with the body of `source`, which gets one more reference. */
  copy(copy: WireCopy, source: FoundObject): NewObject;
  /** Removes the references of a version that is removed. Enqueues blobs without other references. */
  release(row: ObjectRow): void;
  move(from: string, to: string): void;
}

/** A list of parts without the version that owns it, and the blobs that it names. */
interface StoredManifest {
  readonly text: string;
  readonly blobs: readonly string[];
}

export function createSharedBodies(database: Database, bodies: Bodies): SharedBodies {
  const shared = createSharedBlobs(database, bodies);
  const findManifest = database.prepare<{ parts: string }>("SELECT parts FROM manifests WHERE id = ?");
  const deleteManifest = database.prepare("DELETE FROM manifests WHERE id = ?");

  function readManifest({ manifest, version }: ObjectRow): StoredManifest {
    const what = "the list of parts of a version";
    const stored = findManifest.get(manifest!)?.parts ?? "";
    const [owner, parts] = ownedParts(stored, what);
    if (owner !== version) throw damagedError(what);
    return {
      text: verifyText(stored, what).slice(version.length),
      blobs: parts.map(({ blob }) => blob.id),
    };
  }

  function releaseParts(row: ObjectRow): void {
    const blobs = findShared(row);
    if (blobs === undefined) {
      bodies.release(row);
      return;
    }
    for (const blob of blobs) if (!shared.remove(blob)) bodies.enqueueGarbage(blob);
    deleteManifest.run(row.manifest);
  }

  /** Returns the blobs of the parts. Undefined if none is shared, or if the list is damaged. */
  function findShared(row: ObjectRow): readonly string[] | undefined {
    try {
      const { blobs } = readManifest(row);
      return blobs.some(shared.isShared) ? blobs : undefined;
    } catch (error) {
      // Enqueued as a whole, a damaged list is reported, and no bytes are removed for it.
      if (error instanceof StoreError) return undefined;
      throw error;
    }
  }

  return {
    copy({ key, version, size, record, of }, source) {
      const { blob, stored, manifest } = source;
      recordText(source, "the record of the copied version");
      const checked = rebindChecksum(record, { blob: null, stored: null }, source);
      const target = { key, version, size, record: checked, isShared: true } as const;
      const none = { inline: undefined, blob: undefined, stored: undefined, manifest: undefined };
      if (blob !== null) {
        shared.add(blob);
        return { ...target, ...none, blob, stored: stored! };
      }
      if (manifest !== null) {
        const { text, blobs } = readManifest(source);
        for (const part of blobs) shared.add(part);
        return { ...target, ...none, manifest: withTextChecksum(version + text) };
      }
      if (source.inline === emptyBody) return { ...target, ...none, inline: new Uint8Array() };
      const bytes = verifyBytes(of, source.bytes, "the body of the copied version");
      return { ...target, ...none, inline: withChecksum(version, bytes) };
    },
    release(row) {
      if (row.manifest !== null) releaseParts(row);
      else if (row.blob !== null && !shared.remove(row.blob)) bodies.enqueueGarbage(row.blob);
    },
    move: shared.move,
  };
}
