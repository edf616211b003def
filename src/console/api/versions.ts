// Routes for the versions of one object: list, restore, and delete for good.
import type { Engine } from "../../engine/engine.ts";
import type { ListedVersion } from "../../engine/records.ts";
import type { Bucket } from "../../model/bucket.ts";
import { StoreError } from "../../model/errors.ts";
import type { VersionPosition } from "../../model/listing.ts";
import { describeLock, findLock } from "../../model/lock.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { isDeleteMarker } from "../../model/version.ts";
import { ConsoleError, json, noContent } from "../response.ts";
import type { Call, Route } from "../route.ts";
import type { LockDocument, StoredDocument, VersionRow, VersionsDocument } from "../wire-types.ts";
import { requireBucket, versioningState } from "./setting-changes.ts";

const pageVersions = 100;
/** A key that was deleted again and again has many delete markers before its newest version. */
export const maxMarkers = 2000;

export function versionRoutes(engine: Engine, now: () => number): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/versions",
      needs: { right: "view", on: "bucket", in: "query" },
      async run({ query }) {
        const bucket = await requireBucket(engine, query.text("bucket"));
        const after = parseVersionCursor(query.optional("cursor"));
        const page = await listVersions(engine, bucket.name, query.text("key"), after);
        return json({
          versions: page.versions.map((listed) => toVersionRow(listed, bucket, now())),
          versioning: versioningState(bucket),
          cursor: formatVersionCursor(page.next),
        } satisfies VersionsDocument);
      },
    },
    {
      method: "POST",
      path: "/api/versions/restore",
      needs: { right: "edit", on: "bucket", in: "body" },
      async run({ fields }) {
        const given = await fields();
        const [bucket, key] = [given.text("bucket"), given.text("key")];
        const version = given.optionalText("version") ?? (await findNewest(engine, bucket, key));
        const { etag } = await engine.restoreVersion(bucket, key, version);
        return json({ etag } satisfies StoredDocument);
      },
    },
    {
      method: "POST",
      path: "/api/versions/delete",
      needs: { right: "edit", on: "bucket", in: "body" },
      run: (call) => deleteVersion(engine, call),
    },
  ];
}

/** Lists one page of the versions of a key. */
async function listVersions(engine: Engine, bucket: string, key: string, after: VersionPosition | undefined) {
  const { versions, next } = await engine.listVersions(bucket, { prefix: key, after, limit: pageVersions });
  const own = versions.filter(({ version }) => version.key === key);
  // Longer keys with this prefix come after all versions of the key.
  return { versions: own, next: own.length < versions.length ? undefined : next };
}

/** Returns the id of the newest version that is not a delete marker. */
async function findNewest(engine: Engine, bucket: string, key: string): Promise<string> {
  let after: VersionPosition | undefined;
  for (let pages = 0; pages < maxMarkers / pageVersions; pages++) {
    const { versions, next } = await listVersions(engine, bucket, key, after);
    const found = versions.find(({ version }) => !isDeleteMarker(version));
    if (found !== undefined) return found.version.version;
    after = next;
    if (after === undefined)
      throw new ConsoleError(404, "This object has no versions that could be restored.");
  }
  throw new ConsoleError(409, `This object was deleted ${maxMarkers} times or more.`, {
    hint: "Open its versions, and restore the one that you want.",
  });
}

function toVersionRow({ version, isCurrent }: ListedVersion, bucket: Bucket, now: number): VersionRow {
  const { version: id, uploaded } = version;
  if (isDeleteMarker(version)) return { version: id, uploaded, isCurrent, isDeleteMarker: true };
  return {
    ...{ version: id, uploaded, isCurrent, isDeleteMarker: false, size: version.size },
    lock: toLockDocument(version, bucket, now),
    isEncrypted: version.encryption?.keyMd5 !== undefined,
  };
}

export function toLockDocument(
  version: ObjectRecord,
  bucket: Bucket | undefined,
  now: number,
): LockDocument | undefined {
  const lock = findLock(version, bucket?.settings.lockRules, now);
  return lock && { message: describeLock(lock), until: lock.until ?? null };
}

async function deleteVersion(engine: Engine, { fields }: Call) {
  const given = await fields();
  const target = { key: given.text("key"), version: given.text("version") };
  const [deletion] = await engine.deleteVersions(given.text("bucket"), [target]);
  if (deletion?.outcome === "locked") throw new ConsoleError(403, deletion.message);
  if (deletion?.outcome !== "deleted") throw new StoreError("NoSuchVersion");
  return noContent();
}

export function formatVersionCursor(position: VersionPosition | undefined): string | undefined {
  if (position === undefined) return undefined;
  return JSON.stringify([position.kind, position.value, position.version]);
}

export function parseVersionCursor(cursor: string | undefined): VersionPosition | undefined {
  if (cursor === undefined) return undefined;
  try {
    const [kind, value, version] = JSON.parse(cursor) as unknown[];
    if ((kind === "start" || kind === "key" || kind === "prefix") && typeof value === "string")
      return typeof version === "string" ? { kind, value, version } : { kind, value };
  } catch {
    // Not JSON: the error below is thrown.
  }
  throw new ConsoleError(400, "The cursor is not valid; use the cursor of a previous page.");
}
