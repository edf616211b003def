// Route that removes everything in a bucket for good, with all versions, one batch per request. The
// page checks for locks first, because a bucket with locked versions cannot be emptied.
import type { Engine } from "../../../engine/engine.ts";
import type { Bucket } from "../../../model/bucket.ts";
import { limits } from "../../../model/limits.ts";
import { describeLock, findLock } from "../../../model/lock.ts";
import { isDeleteMarker } from "../../../model/version.ts";
import { json } from "../../response.ts";
import type { Route } from "../../route.ts";
import type { EmptiedDocument, SkippedRow } from "../../wire-bucket.ts";
import { requireBucket } from "../setting-changes.ts";
import { formatVersionCursor, parseVersionCursor } from "../versions.ts";

const maxNamed = 10;

export function emptyingRoutes(engine: Engine, now: () => number): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/api/buckets/empty",
      needs: { right: "administer", on: "bucket", in: "body" },
      async run({ fields }) {
        const given = await fields();
        const bucket = await requireBucket(engine, given.text("bucket"));
        const cursor = given.optionalText("cursor");
        if (given.flag("isCheck")) return json(await checkPage(engine, bucket, cursor, now()));
        const { versioning, lockRules } = bucket.settings;
        const isPlain = (versioning ?? lockRules) === undefined;
        return json(isPlain ? await deleteObjects(engine, bucket) : await deletePage(engine, bucket, cursor));
      },
    },
  ];
}

async function checkPage(
  engine: Engine,
  { name, settings }: Bucket,
  cursor: string | undefined,
  now: number,
): Promise<EmptiedDocument> {
  // Without locks, all versions can be removed, and none needs to be looked at.
  if (settings.lockRules === undefined && settings.objectLock === undefined) return toDocument(0, []);
  const page = await engine.listVersions(name, { after: parseVersionCursor(cursor) });
  const locked = page.versions.flatMap(({ version }): SkippedRow[] => {
    const lock = isDeleteMarker(version) ? undefined : findLock(version, settings.lockRules, now);
    return lock === undefined ? [] : [{ key: version.key, message: describeLock(lock) }];
  });
  return toDocument(0, locked, formatVersionCursor(page.next));
}

async function deleteObjects(engine: Engine, { name }: Bucket): Promise<EmptiedDocument> {
  const { objects, cursor } = await engine.list(name, { limit: limits.deleteKeys });
  const keys = objects.map(({ key }) => key);
  if (keys.length > 0) await engine.delete(name, keys);
  return toDocument(keys.length, [], cursor);
}

async function deletePage(
  engine: Engine,
  { name }: Bucket,
  cursor: string | undefined,
): Promise<EmptiedDocument> {
  const after = parseVersionCursor(cursor);
  const page = await engine.listVersions(name, { after, limit: limits.deleteKeys });
  const targets = page.versions.map(({ version: { key, version } }) => ({ key, version }));
  const deletions = targets.length === 0 ? [] : await engine.deleteVersions(name, targets);
  const locked = deletions.flatMap((deletion, i): SkippedRow[] =>
    deletion.outcome === "locked" ? [{ key: targets[i]!.key, message: deletion.message }] : [],
  );
  const deleted = deletions.filter(({ outcome }) => outcome === "deleted").length;
  return toDocument(deleted, locked, formatVersionCursor(page.next));
}

function toDocument(deleted: number, locked: readonly SkippedRow[], cursor?: string): EmptiedDocument {
  return { deleted, locked: locked.slice(0, maxNamed), lockedCount: locked.length, cursor };
}
