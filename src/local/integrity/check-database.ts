// Checks of a whole bucket database: totals, owners of bodies, references of shared blobs, and pages.
import { Buffer } from "node:buffer";
import type { Finding } from "../../engine/records.ts";
import type { Database } from "../index/sqlite.ts";
import { parseSharedCount } from "../rows/shared-count.ts";

export const bucketDatabaseChecks: readonly ((database: Database) => Finding[])[] = [
  checkTotals,
  checkOwners,
  checkCurrentMarkers,
  checkVersionOrder,
  checkShared,
  (database) => checkPageIntegrity(database),
];

/** Uses a single statement, so that totals and rows are read in one snapshot. */
function checkTotals(database: Database): Finding[] {
  const row = database
    .prepare<{ hold: number }>(
      "SELECT (objects, bytes) = (SELECT count(*), coalesce(sum(size), 0) FROM objects) AND " +
        "(noncurrent, noncurrent_bytes) = (SELECT count(*), coalesce(sum(size), 0) FROM history) AS hold FROM bucket",
    )
    .get();
  if (row?.hold === 1) return [];
  return [{ what: "The stored data is damaged: the totals of the bucket are not those of its objects." }];
}

function blobsInManifests(condition = ""): string {
  return (
    "SELECT json_extract(part.value, '$[2]') AS id FROM manifests, " +
    "json_each(substr(parts, 33, length(parts) - 40), '$[1]') AS part " +
    "WHERE json_valid(substr(parts, 33, length(parts) - 40)) AND json_extract(part.value, '$[2]') IS NOT NULL " +
    condition
  );
}

const unownedQueries: readonly (readonly [what: string, sql: string])[] = [
  [
    "body",
    "SELECT id FROM bodies WHERE id NOT IN (SELECT inline FROM objects WHERE inline IS NOT NULL " +
      "UNION ALL SELECT inline FROM history WHERE inline IS NOT NULL) LIMIT 100",
  ],
  [
    "list of parts",
    "SELECT id FROM manifests WHERE id NOT IN (SELECT manifest FROM objects WHERE manifest IS NOT NULL " +
      "UNION ALL SELECT manifest FROM history WHERE manifest IS NOT NULL " +
      "UNION ALL SELECT manifest FROM buried WHERE manifest IS NOT NULL) LIMIT 100",
  ],
  [
    "blob",
    "SELECT id FROM blobs WHERE id NOT IN (SELECT blob FROM objects WHERE blob IS NOT NULL " +
      "UNION ALL SELECT blob FROM history WHERE blob IS NOT NULL " +
      "UNION ALL SELECT blob FROM parts UNION ALL SELECT blob FROM buried WHERE blob IS NOT NULL " +
      `UNION ALL ${blobsInManifests()}) LIMIT 100`,
  ],
];

function checkOwners(database: Database): Finding[] {
  return unownedQueries.flatMap(([what, sql]) =>
    database
      .prepare<{ id: unknown }>(sql)
      .all()
      .map(({ id }) => ({
        what: `The stored data is damaged: ${what} ${String(id)} belongs to no object.`,
      })),
  );
}

/** Finds keys of which not exactly one version is current. */
function checkCurrentMarkers(database: Database): Finding[] {
  const isCurrent = "until = 9e999";
  const newer =
    "SELECT 1 FROM history AS newer WHERE newer.key = history.key AND newer.entry > history.entry";
  const object = "SELECT 1 FROM objects WHERE objects.key = history.key";
  const sql = `SELECT key FROM history WHERE (${isCurrent}) <> (NOT EXISTS (${object}) AND NOT EXISTS (${newer})) LIMIT 100`;
  return database
    .prepare<{ key: Uint8Array }>(sql)
    .all()
    .map(({ key }) => {
      const text = Buffer.from(key).toString();
      return {
        key: text,
        what: `The stored data is damaged: "${text}" has not exactly one current version.`,
      };
    });
}

/** Finds keys whose versions are not shown one after the other. */
function checkVersionOrder(database: Database): Finding[] {
  const next = "lead(shown_until) OVER versions AS next_shown, lead(since) OVER versions AS next_since";
  const rows =
    `SELECT key, shown_until, is_oldest, row_number() OVER versions AS number, ${next} ` +
    "FROM history WINDOW versions AS (PARTITION BY key ORDER BY entry)";
  const sql =
    `SELECT DISTINCT key FROM (${rows}) WHERE is_oldest <> (number = 1) ` +
    "OR shown_until <> min(next_shown, next_since) LIMIT 100";
  return database
    .prepare<{ key: Uint8Array }>(sql)
    .all()
    .map(({ key }) => {
      const text = Buffer.from(key).toString();
      return { key: text, what: `The stored data is damaged: the order of the versions of "${text}".` };
    });
}

/** Compares the numbers of references of shared blobs with the versions that name them. */
function checkShared(database: Database): Finding[] {
  const sql =
    "SELECT id, max(count) AS count, sum(uses) AS uses FROM (SELECT blob AS id, count, 0 AS uses FROM shared " +
    "UNION ALL SELECT blob, NULL, 1 FROM objects WHERE blob IS NOT NULL " +
    "UNION ALL SELECT blob, NULL, 1 FROM history WHERE blob IS NOT NULL " +
    `UNION ALL SELECT id, NULL, 1 FROM (${blobsInManifests("AND manifests.id NOT IN (SELECT manifest FROM buried WHERE manifest IS NOT NULL)")})) ` +
    "GROUP BY id HAVING count IS NOT NULL OR uses > 1";
  return database
    .prepare<{ id: string; count: unknown; uses: number }>(sql)
    .all()
    .filter(({ id, count, uses }) => expectedUses(id, count) !== uses)
    .map(({ id, uses }) => ({
      what: `The stored data is damaged: blob ${id} has ${uses} references, not the stored number.`,
    }));
}

/** A count that cannot be read is another finding. */
function expectedUses(blob: string, count: unknown): number | undefined {
  try {
    return count === null ? 1 : parseSharedCount(blob, count) + 1;
  } catch {
    return undefined;
  }
}

export function checkPageIntegrity(database: Database): Finding[] {
  return database
    .prepare<{ integrity_check: string }>("PRAGMA integrity_check(20)")
    .all()
    .filter(({ integrity_check }) => integrity_check !== "ok")
    .map(({ integrity_check }) => ({ what: `The stored data is damaged: ${integrity_check}.` }));
}
