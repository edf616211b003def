// Reads of versions: single versions, the objects at a time, listings and the whole history.
import { Buffer } from "node:buffer";
import { decodeVersion } from "../../engine/codec/version-codec.ts";
import type {
  InspectedVersion,
  ListedVersion,
  Records,
  StoredVersion,
  VersionPage,
  VersionScan,
} from "../../engine/records.ts";
import { keyBytes } from "../../model/key.ts";
import type { PageEntry, VersionPosition } from "../../model/listing.ts";
import { type Row, statements } from "../postgres/connection.ts";
import { isText } from "../postgres/text.ts";
import { afterAllKeys, later, type ReadRows, successor, toStartBytes } from "./listing.ts";
import { inspectRow, toBody, toObjectWithBody } from "./object-row.ts";

const bodyColumns = "record, inline, blob, stored, manifest";
const currentVersion = `SELECT ${bodyColumns}, false AS is_marker, 'Infinity'::double precision AS until
    FROM store.objects WHERE bucket = b.id AND key = $2`;
const earlierVersion = `SELECT ${bodyColumns}, is_marker, until FROM store.history WHERE bucket = b.id AND key = $2`;
const versionColumns = "v.record, v.inline, v.blob, v.stored, m.parts, v.is_marker, v.until";
const withManifest = "ON true LEFT JOIN store.manifests m ON m.id = v.manifest WHERE b.name = $1";

const queries = statements({
  version: `SELECT ${versionColumns} FROM store.buckets b LEFT JOIN LATERAL (
        ${currentVersion} AND (version = $3 OR ($3 = 'null' AND is_versioned IS NOT TRUE))
        UNION ALL ${earlierVersion} AND version = $3
        UNION ALL ${earlierVersion} AND NOT is_versioned AND $3 = 'null' LIMIT 1
      ) v ${withManifest}`,
  newestVersion: `SELECT v.record, v.is_marker FROM store.buckets b LEFT JOIN LATERAL (
        (SELECT record, false AS is_marker FROM store.objects WHERE bucket = b.id AND key = $2)
        UNION ALL (SELECT record, is_marker FROM store.history WHERE bucket = b.id AND key = $2
          AND until = 'Infinity') LIMIT 1
      ) v ON true WHERE b.name = $1`,
  objectAt: `SELECT ${versionColumns} FROM store.buckets b LEFT JOIN LATERAL (
        (${currentVersion} AND coalesce(since, store.uploaded(record)) <= $3)
        UNION ALL (SELECT ${bodyColumns}, is_marker, until FROM (SELECT * FROM store.history
          WHERE bucket = b.id AND key = $2 AND shown_until > $3 ORDER BY shown_until, entry LIMIT 1) shown
          WHERE since <= $3) LIMIT 1
      ) v ${withManifest}`,
  versions: `SELECT v.folder, v.record, v.is_marker, v.until FROM store.buckets b
      LEFT JOIN LATERAL store.list_versions(b.id, $2, $3, $4, $5, $6, $7, $8) v ON true WHERE b.name = $1`,
  inspectedVersions: `SELECT v.entry, v.key, ${versionColumns} FROM store.buckets b LEFT JOIN LATERAL (
        SELECT * FROM store.history WHERE bucket = b.id AND entry > $2 ORDER BY entry LIMIT $3
      ) v ${withManifest} ORDER BY v.entry`,
});

const inspectBatchSize = 500;

type VersionReads = Pick<Records, "version" | "newestVersion" | "objectAt" | "versions" | "inspectHistory">;

/** `readMatches` returns the matching rows of a bucket, and rejects if the bucket does not exist. */
export function createVersionReads(
  readMatches: (bucket: string, ...read: Parameters<ReadRows>) => ReturnType<ReadRows>,
): VersionReads {
  return {
    async version(bucket, key, id) {
      const [row] = await readMatches(bucket, queries.version, [keyBytes(key), isText(id) ? id : null]);
      return row && toStoredVersion(row);
    },
    async newestVersion(bucket, key) {
      const [row] = await readMatches(bucket, queries.newestVersion, [keyBytes(key)]);
      return row && decodeVersion(String(row[0]), row[1] === true);
    },
    async objectAt(bucket, key, time) {
      const [row] = await readMatches(bucket, queries.objectAt, [keyBytes(key), time]);
      const isMarker = row?.[5] === true;
      return row === undefined || isMarker ? undefined : toObjectWithBody(row);
    },
    versions: (bucket, scan) =>
      readVersionPage((statement, values) => readMatches(bucket, statement, values), scan),
    async *inspectHistory(bucket) {
      let after = 0;
      for (;;) {
        const rows = await readMatches(bucket, queries.inspectedVersions, [after, inspectBatchSize]);
        for (const [, ...row] of rows) yield toInspectedVersion(row);
        if (rows.length < inspectBatchSize) return;
        after = Number(rows.at(-1)![0]);
      }
    },
  };
}

/** Decodes the columns of `versionColumns`. */
function toStoredVersion([record, inline, blob, stored, parts, isMarker, until]: Row): StoredVersion {
  return {
    version: decodeVersion(String(record), isMarker === true),
    body: isMarker === true ? undefined : toBody(inline, blob, stored, parts),
    isCurrent: until === Number.POSITIVE_INFINITY,
  };
}

function toInspectedVersion([bytes, ...row]: Row): InspectedVersion {
  const key = (bytes as Buffer).toString();
  return {
    key,
    found: inspectRow(key, () => {
      const { version, body } = toStoredVersion(row);
      return { key: version.key, found: { version, body } };
    }),
  };
}

async function readVersionPage(read: ReadRows, scan: VersionScan): Promise<VersionPage> {
  const rows = await read(queries.versions, scanValues(scan));
  const entries = rows.slice(0, scan.limit).map(toEntry);
  if (rows.length <= scan.limit) return { entries, next: undefined };
  return { entries, next: toPosition(entries.at(-1)) ?? scan.after ?? { kind: "start", value: "" } };
}

/** Requests one row more than fits, to learn whether another page follows. */
function scanValues({ prefix, delimiter, after, limit }: VersionScan): unknown[] {
  const prefixBytes = Buffer.from(keyBytes(prefix));
  const end = prefixBytes.length === 0 ? afterAllKeys : successor(prefixBytes);
  const start = later(prefixBytes, toStartBytes(after ?? { kind: "start", value: "" }));
  const isResumed = after?.kind === "key" && after.value.startsWith(prefix);
  const key = isResumed ? keyBytes(after.value) : null;
  // No version has the empty id, so that the listing starts at the newest version of the key.
  const version =
    isResumed && after.version !== undefined ? (isText(after.version) ? after.version : "") : null;
  return [prefixBytes, Buffer.from(keyBytes(delimiter)), start, end, limit + 1, key, version];
}

function toEntry([folder, record, isMarker, until]: Row): PageEntry<ListedVersion> {
  if (folder !== null) return { prefix: (folder as Buffer).toString() };
  const version = decodeVersion(String(record), isMarker === true);
  return { record: { version, isCurrent: until === Number.POSITIVE_INFINITY, until: Number(until) } };
}

function toPosition(entry: PageEntry<ListedVersion> | undefined): VersionPosition | undefined {
  if (entry === undefined) return undefined;
  if ("prefix" in entry) return { kind: "prefix", value: entry.prefix };
  const { key, version } = entry.record.version;
  return { kind: "key", value: key, version };
}
