// Compares a bucket's tables with its existence index in both directions. Reads in small batches,
// each in one snapshot, so that a store in use is not blocked.
import { Buffer } from "node:buffer";
import type { Finding } from "../../engine/records.ts";
import { StoreError } from "../../model/errors.ts";
import {
  type ExistenceEntry,
  existenceKey,
  inSnapshot,
  parseExistenceKey,
} from "../index/existence-index.ts";
import type { Queries } from "../index/queries/object-queries.ts";
import type { Database } from "../index/sqlite.ts";
import { parseSharedCount } from "../rows/shared-count.ts";
import { bucketDatabaseChecks } from "./check-database.ts";

/** Reads through the bucket's current handle, which may change between two batches. */
export type BucketReader = <T>(read: (queries: Queries, database: Database) => T) => T;

const batch = 256;

/** Yielded after each batch: the caller lets other work run before the next one. */
export const batchEnd = "end of a batch";
type Steps = Generator<Finding | typeof batchEnd>;

export function* checkBucket(read: BucketReader, depth: "records" | "pages"): Steps {
  yield* attempt(() => read((queries) => checkSettings(queries)));
  yield* attempt(() => read((queries) => checkReads(queries)));
  yield* walkExistenceIndex(read);
  yield* walkTable(read, history);
  yield* walkTable(read, shared);
  yield* walkTable(read, uploads);
  yield* walkTable(read, parts);
  yield* walkTable(read, blobs);
  yield* walkGarbage(read);
  yield* walkOutbox(read);
  if (depth !== "pages") return;
  for (const check of bucketDatabaseChecks) {
    yield* attempt(() => read((_, database) => check(database)));
    yield batchEnd;
  }
}

/** Reports an unreadable table as a finding, so that the other tables are still checked. */
function attempt(find: () => Finding[]): Finding[] {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof StoreError)) return [{ what: `The stored data is damaged: ${String(error)}.` }];
    if (error.reason === "NoSuchBucket") throw error;
    return [{ what: error.detail }];
  }
}

function checkSettings(queries: Queries): Finding[] {
  queries.settings();
  return [];
}

/** A damaged schema makes every read fail, also that of a key that has no row: no object has this one. */
function checkReads(queries: Queries): Finding[] {
  queries.object("");
  queries.objectWithBody("");
  queries.newestVersion("");
  return [];
}

function* walkGarbage(read: BucketReader): Steps {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const from: number = after;
    after = undefined;
    yield* attempt(() => {
      const entries = read((queries) => queries.garbage(from, batch));
      const last = entries.at(-1)?.entry ?? from;
      after = entries.length === batch && last > from ? last : undefined;
      return entries.flatMap(({ entry, isDamaged }) =>
        isDamaged === true
          ? [{ what: `The stored data is damaged: entry ${entry} of the garbage queue.` }]
          : [],
      );
    });
    yield batchEnd;
  }
}

function* walkOutbox(read: BucketReader): Steps {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const from: number = after;
    after = undefined;
    yield* attempt(() => {
      const { damaged, last } = read((queries) => queries.damagedEvents(from, batch));
      // Damage may break the order of keys. End the walk instead of going back.
      after = last !== undefined && last > from ? last : undefined;
      return damaged.map((entry) => ({
        what: `The stored data is damaged: entry ${entry} of the outbox of events.`,
      }));
    });
    yield batchEnd;
  }
}

/** Finds index entries without a row. */
function* walkExistenceIndex(read: BucketReader): Steps {
  let after: Uint8Array = new Uint8Array();
  for (;;) {
    let last: Uint8Array | undefined;
    yield* attempt(() =>
      read((_, database) =>
        inSnapshot(database, () => {
          const sql = `SELECT place FROM witness WHERE place > ? ORDER BY place LIMIT ${batch}`;
          const rows = database.prepare<{ place: Uint8Array }>(sql).all(after);
          last = rows.length < batch ? undefined : rows.at(-1)!.place;
          return rows.flatMap(({ place: indexKey }) => findMissing(database, indexKey));
        }),
      ),
    );
    yield batchEnd;
    // Damage may break the order of keys. End the walk instead of going back.
    if (last === undefined || Buffer.compare(last, after) <= 0) return;
    after = last;
  }
}

function findMissing(database: Database, indexKey: unknown): Finding[] {
  const entry = indexKey instanceof Uint8Array ? parseExistenceKey(indexKey) : undefined;
  if (entry === undefined) return [{ what: "The stored data is damaged: an entry of the existence index." }];
  const [sql, ...values] = lookUp(entry);
  if (database.prepare(sql).get(...values) !== undefined) return [];
  return [lostFinding(entry)];
}

function lookUp(entry: ExistenceEntry): [sql: string, ...values: (string | number | Uint8Array)[]] {
  switch (entry.kind) {
    case "object":
      return ["SELECT 1 FROM objects WHERE key = ?", entry.key];
    case "version":
      return ["SELECT 1 FROM history WHERE version = ? AND key = ?", entry.version, entry.key];
    case "null version":
      return ["SELECT 1 FROM history WHERE key = ? AND versioned = 0", entry.key];
    case "shared":
      return ["SELECT 1 FROM shared WHERE blob = ?", entry.id];
    case "upload":
      return ["SELECT 1 FROM uploads WHERE key = ? AND id = ?", entry.key, entry.id];
    case "part":
      return ["SELECT 1 FROM parts WHERE upload = ? AND number = ?", entry.uploadId, entry.number];
    case "blob":
      return ["SELECT 1 FROM blobs WHERE id = ?", entry.id];
    default:
      return ["SELECT 1 WHERE 0"];
  }
}

function lostFinding(entry: ExistenceEntry): Finding {
  const what = (thing: string) => `The stored data is damaged: ${thing} is missing from the index.`;
  switch (entry.kind) {
    case "object":
      return { key: keyText(entry.key), what: what(`the record of "${keyText(entry.key)}"`) };
    case "version":
      return { key: keyText(entry.key), what: what(`version "${entry.version}" of "${keyText(entry.key)}"`) };
    case "null version":
      return { key: keyText(entry.key), what: what(`the null version of "${keyText(entry.key)}"`) };
    case "shared":
      return { what: what(`the number of references of blob ${entry.id}`) };
    case "upload":
      return { key: keyText(entry.key), what: what(`upload "${entry.id}"`) };
    case "part":
      return { what: what(`part ${entry.number} of upload "${entry.uploadId}"`) };
    case "blob":
      return { what: what(`blob ${entry.id}`) };
    default:
      return { what: what(`a ${entry.kind} that the existence index names`) };
  }
}

type Row = Readonly<Record<string, string | number | Uint8Array>>;

interface Table {
  readonly name: string;
  /** The columns of the primary key, in order. */
  readonly key: readonly string[];
  readonly first: readonly (string | number | Uint8Array)[];
  /** Other columns that the walk reads. */
  readonly also?: readonly string[];
  indexKey(row: Row): Uint8Array;
  /** Verifies the whole row, of which the walk reads only some columns. */
  verify?(queries: Queries, row: Row): unknown;
  describe(row: Row): Finding;
}

/** A damaged key may be of any type. */
function keyText(key: unknown): string {
  return key instanceof Uint8Array ? Buffer.from(key).toString() : "";
}

function describeUnindexed(thing: string): string {
  return `The stored data is damaged: ${thing} is missing from the existence index.`;
}

const history: Table = {
  name: "history",
  key: ["entry"],
  first: [0],
  also: ["key", "version"],
  indexKey: ({ key, version }) => existenceKey.version(key as Uint8Array, String(version)),
  verify: (queries, { entry }) => queries.inspectEntry(Number(entry)),
  describe: ({ key, version }) => ({
    key: keyText(key),
    what: describeUnindexed(`version "${version}" of "${keyText(key)}"`),
  }),
};

const shared: Table = {
  name: "shared",
  key: ["blob"],
  first: [""],
  also: ["count"],
  indexKey: ({ blob }) => existenceKey.shared(String(blob)),
  verify: (_, { blob, count }) => parseSharedCount(String(blob), count),
  describe: ({ blob }) => ({ what: describeUnindexed(`the number of references of blob ${blob}`) }),
};

const uploads: Table = {
  name: "uploads",
  key: ["key", "id"],
  first: [new Uint8Array(), ""],
  indexKey: ({ key, id }) => existenceKey.upload(key as Uint8Array, String(id)),
  verify: (queries, { key, id }) => queries.upload(keyText(key), String(id)),
  describe: ({ key, id }) => ({
    key: keyText(key),
    what: describeUnindexed(`upload "${id}"`),
  }),
};

const parts: Table = {
  name: "parts",
  key: ["upload", "number"],
  first: ["", -1],
  indexKey: ({ upload, number }) => existenceKey.part(String(upload), Number(number) & 0xffff),
  describe: ({ upload, number }) => ({ what: describeUnindexed(`part ${number} of upload "${upload}"`) }),
};

const blobs: Table = {
  name: "blobs",
  key: ["id"],
  first: [""],
  indexKey: ({ id }) => existenceKey.blob(String(id)),
  describe: ({ id }) => ({ what: describeUnindexed(`blob ${id}`) }),
};

/** Finds damaged rows and rows without an index entry. */
function* walkTable(read: BucketReader, table: Table): Steps {
  const { name, key, first, also = [], indexKey, describe } = table;
  const columns = key.join(", ");
  const sql = `SELECT ${[...key, ...also].join(", ")} FROM ${name} WHERE (${columns}) > (${key.map(() => "?").join(", ")}) ORDER BY ${columns} LIMIT ${batch}`;
  const seen = new Set<string>();
  let after = first;
  for (;;) {
    let last: Row | undefined;
    let rows: Row[] = [];
    yield* attempt(() =>
      read((_, database) =>
        inSnapshot(database, () => {
          const findExistence = database.prepare("SELECT 1 FROM witness WHERE place = ?");
          rows = database.prepare<Row>(sql).all(...after);
          last = rows.length < batch ? undefined : rows.at(-1);
          return rows.flatMap((row) =>
            findExistence.get(indexKey(row)) === undefined ? [describe(row)] : [],
          );
        }),
      ),
    );
    for (const row of rows) {
      const findings = attempt(() => {
        read((queries) => table.verify?.(queries, row));
        return [];
      });
      for (const finding of findings) yield { ...describe(row), ...finding };
    }
    yield batchEnd;
    if (last === undefined) return;
    after = key.map((column) => last![column]!);
    // Damage could make the walk loop, so end it at the first repeated key.
    const at = JSON.stringify(after);
    if (seen.has(at)) return;
    seen.add(at);
  }
}
