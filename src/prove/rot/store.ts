// A small store with every kind of data; a copy of its files in memory restores it after each flip.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { createEngine } from "../../engine/create.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Documents } from "../../engine/records.ts";
import { bytesOf, KiB } from "../bodies.ts";
import { fillHistory } from "./history.ts";

const { bucketPaths, dataLayout, randomName } = await import("../../local/disk/layout.ts");

export const bucket = "rotten";
export const emptyBucket = "settled";
export const customerKey = createHash("sha256").update("the customer's").digest();
/** The time in all tests, long before any upload expires. */
export const time = Date.UTC(2026, 0, 1);

export interface StoredObject {
  readonly key: string;
  readonly home: "inline" | "file" | "parts";
  readonly bytes: Buffer;
  readonly customerKey?: Uint8Array;
}

// Several similar objects of each kind, so that a wrong pointer finds plausible data. Long keys
// make every table span several pages.
const kinds = [
  { home: "inline", size: 90, count: 10 },
  { home: "inline", size: 0, count: 1 },
  { home: "file", size: 700, count: 4 },
  { home: "file", size: 2 * KiB + 5, count: 2 },
  { home: "parts", size: 2 * KiB, count: 3 },
] as const;

export const storedObjects: readonly StoredObject[] = kinds.flatMap(({ home, size, count }) =>
  Array.from({ length: count * 2 }, (_, i) => {
    const isSealed = i % 4 === 3;
    const key = `${home}/${size}/${i}/${"a long way down ".repeat(3 + (i % 3))}`;
    const bytes = bytesOf(key, { name: String(i), size });
    return { key, home, bytes, ...(isSealed ? { customerKey } : {}) };
  }),
);
/** Keys that were stored and then deleted: damage might make them reappear. */
export const deleted: readonly string[] = [0, 1, 2, 3, 4, 5].map((i) => `inline/90/${i}/deleted`);

const documents = ["first", "second", "third"].map((name) => ({ name, text: `the text of ${name}` }));

export async function openRot(
  directory: string,
  now = () => time,
): Promise<{ engine: Engine; documents: Documents }> {
  const sizes = {
    blockBytes: 256,
    folderFiles: 16,
    segments: { bodyBytes: KiB, fileBytes: 4 * KiB },
  };
  const { openLocal } = await import("../../local/open.ts");
  const { records, blobs } = await openLocal(directory, sizes);
  const engine = createEngine({ records, blobs, now, inlineBytes: 256, blockBytes: 256 });
  return { engine, documents: records.documents };
}

export async function fillStore(directory: string): Promise<void> {
  let passed = 0;
  const { engine, documents: store } = await openRot(directory, () => time + passed);
  await engine.createBucket(emptyBucket, { storageClass: "InfrequentAccess" });
  await engine.createBucket(bucket);
  await engine.changeSettings(emptyBucket, { cors: [{ origins: ["*"], methods: ["GET"] }] as never });
  for (const key of deleted) await engine.put(bucket, key, bytesOf(key, { name: "gone", size: 90 }));
  for (const one of storedObjects) {
    // Written twice, so that an older version exists for damage to expose.
    if (one.home !== "parts") await engine.put(bucket, one.key, bytesOf(one.key, { name: "old", size: 120 }));
    await putOne(engine, one);
  }
  await engine.delete(bucket, deleted);
  for (const key of ["in flight/one", "in flight/two"]) await beginUpload(engine, key);
  await fillHistory(engine, () => {
    passed += 1000;
    return time + passed;
  });
  for (const { name, text } of documents) await store.put("proof", name, text, undefined);
  await engine.sweep();
  await engine.close();
  for (const path of databases(directory)) {
    const database = new DatabaseSync(path);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
  }
  leaveMarkers(directory);
}

async function putOne(engine: Engine, { key, home, bytes, customerKey }: StoredObject): Promise<void> {
  if (home !== "parts") {
    await engine.put(bucket, key, bytes, { customerKey });
    return;
  }
  const { id } = await engine.createUpload(bucket, key, { customerKey });
  const size = bytes.length / 2;
  const parts = [];
  for (const number of [1, 2]) {
    const part = bytes.subarray((number - 1) * size, number * size);
    parts.push(await engine.uploadPart(bucket, { key, id }, number, part, { customerKey }));
  }
  await engine.completeUpload(bucket, { key, id }, parts);
}

async function beginUpload(engine: Engine, key: string): Promise<void> {
  const { id } = await engine.createUpload(bucket, key);
  for (const number of [1, 2, 3]) {
    await engine.uploadPart(bucket, { key, id }, number, bytesOf(key, { name: String(number), size: 300 }));
  }
}

export function databases(directory: string): string[] {
  const layout = dataLayout(directory);
  const ids = readdirSync(layout.buckets);
  return [layout.registry, ...ids.map((id) => bucketPaths(layout, id).database)];
}

/** Marks every folder as left by a dead process, so that each open examines every file. */
function leaveMarkers(directory: string): void {
  const layout = dataLayout(directory);
  const dead = randomName();
  for (const id of readdirSync(layout.buckets)) {
    const { blobs, segments, open } = bucketPaths(layout, id);
    for (const folder of [...readdirSync(blobs), ...readdirSync(segments)])
      writeFileSync(join(open, `${folder}.${dead}`), "");
  }
}

/** A copy of every file of a directory, to restore it. */
export interface Pristine {
  readonly files: ReadonlyMap<string, Buffer>;
  /** Returns the body files that are missing now. */
  lost(): string[];
  restore(): void;
}

export function isBody(path: string): boolean {
  return path.includes("/blobs/") || path.includes("/segments/");
}

export function keepPristine(directory: string): Pristine {
  const files = new Map(filesUnder(directory).map((path) => [path, readFileSync(path)]));
  return {
    files,
    lost: () => [...files.keys()].filter((path) => isBody(path) && !existsSync(path)),
    restore() {
      for (const path of filesUnder(directory)) if (!files.has(path)) rmSync(path);
      for (const [path, bytes] of files) {
        if (existsSync(path) && readFileSync(path).equals(bytes)) continue;
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, bytes);
      }
    },
  };
}

function filesUnder(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    return statSync(path).isDirectory() ? filesUnder(path) : [path];
  });
}
