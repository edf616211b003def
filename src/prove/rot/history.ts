// The versioned bucket of the bit rot proof: noncurrent versions, delete markers, locks, tags and
// bodies that several versions share.
import assert from "node:assert/strict";
import type { Engine } from "../../engine/engine.ts";
import type { ListedVersion } from "../../engine/records.ts";
import { isDeleteMarker, type Version } from "../../model/version.ts";
import { bytesOf, digestOf, KiB } from "../bodies.ts";
import { collect } from "../bytes.ts";
import type { Question } from "./reads.ts";

export const historyBucket = "history";
const sizes = [90, 700, 2 * KiB + 5] as const;
/** Long keys, so that every table and index spans several pages. */
export const historyKeys: readonly string[] = Array.from(
  { length: 9 },
  (_, i) => `past/${i}/${"a long way back ".repeat(4)}`,
);
const versionsEach = 4;

/** Writes all versions; `pass` lets time pass, so that versions have different times. */
export async function fillHistory(engine: Engine, pass: () => number): Promise<void> {
  await engine.createBucket(historyBucket);
  // The first version of each key is a null version.
  for (const [i, key] of historyKeys.entries()) await putOne(engine, key, i, 0);
  const rule = { id: "first", isEnabled: true, prefix: "past/1", condition: { kind: "indefinite" } } as const;
  await engine.changeSettings(historyBucket, { versioning: "on", objectLock: {}, lockRules: [rule] });
  for (let n = 1; n < versionsEach; n++) {
    pass();
    for (const [i, key] of historyKeys.entries()) await putOne(engine, key, i, n);
  }
  await putParts(engine, historyKeys[0]!);
  await engine.setLegalHold(historyBucket, historyKeys[2]!, true);
  await engine.setTags(historyBucket, historyKeys[3]!, new Map([["colour", "blue"]]));
  const before = pass();
  pass();
  await engine.delete(historyBucket, historyKeys.slice(0, 6));
  for (const key of historyKeys.slice(6)) await putOne(engine, key, 0, versionsEach);
  pass();
  // The restored versions share their bodies with the earlier ones.
  await engine.restorePage(historyBucket, { time: before });
  pass();
  await engine.delete(historyBucket, historyKeys.slice(0, 2));
}

async function putOne(engine: Engine, key: string, i: number, n: number): Promise<void> {
  await engine.put(historyBucket, key, bytesOf(key, { name: String(n), size: sizes[i % sizes.length]! }));
}

async function putParts(engine: Engine, key: string): Promise<void> {
  const { id } = await engine.createUpload(historyBucket, key);
  const bytes = bytesOf(key, { name: "parts", size: 2 * KiB });
  const parts = [];
  for (const number of [1, 2]) {
    const part = bytes.subarray((number - 1) * KiB, number * KiB);
    parts.push(await engine.uploadPart(historyBucket, { key, id }, number, part));
  }
  await engine.completeUpload(historyBucket, { key, id }, parts);
}

export async function listHistory(engine: Engine): Promise<readonly ListedVersion[]> {
  const found: ListedVersion[] = [];
  for (let options = {}; ; ) {
    const { versions, next } = await engine.listVersions(historyBucket, { limit: 20, ...options });
    found.push(...versions);
    assert.ok(found.length < 1000, "a list of versions does not end");
    if (next === undefined) return found;
    options = { after: next };
  }
}

/** Returns a question for every way to read the versions, which are those of the sound store. */
export function* historyQuestions(engine: Engine, versions: readonly Version[]): Generator<Question> {
  for (const { key, version, uploaded } of versions) {
    const name = `version ${version} of "${key}"`;
    yield { name, key, ask: () => readVersion(engine, key, { version }) };
    yield { name: `"${key}" at ${uploaded}`, key, ask: () => readVersion(engine, key, { time: uploaded }) };
  }
  for (const key of historyKeys) {
    yield { name: `"${key}" now`, key, ask: () => readVersion(engine, key, {}) };
    yield { name: `null of "${key}"`, key, ask: () => readVersion(engine, key, { version: "null" }) };
    const version = "0".repeat(32);
    yield { name: `none of "${key}"`, key, ask: () => readVersion(engine, key, { version }) };
  }
  yield { name: "versions", isList: true, ask: () => listHistory(engine) };
  for (const time of new Set(versions.map(({ uploaded }) => uploaded))) {
    const ask = async () => (await engine.list(historyBucket, { time })).objects;
    yield { name: `objects at ${time}`, isList: true, ask };
  }
  yield { name: `bucket ${historyBucket}`, ask: () => engine.bucket(historyBucket) };
}

async function readVersion(engine: Engine, key: string, options: { version?: string; time?: number }) {
  const found = await engine.get(historyBucket, key, options);
  if (found.outcome !== "found") return found;
  return { record: found.record, digest: digestOf(await collect(found.bytes.chunks())) };
}

/** Checks that the store has every kind of version, so that a flip can hit each. */
export function assertComplete(versions: readonly ListedVersion[]): void {
  const has = (what: string, test: (one: ListedVersion) => boolean) =>
    assert.ok(versions.some(test), `the history has ${what}`);
  has("a delete marker", ({ version }) => isDeleteMarker(version));
  has("a current delete marker", ({ version, isCurrent }) => isDeleteMarker(version) && isCurrent);
  has("a null version", ({ version, isCurrent }) => version.isVersioned !== true && !isCurrent);
  has("a lock", ({ version }) => !isDeleteMarker(version) && version.lock !== undefined);
  has("tags", ({ version }) => !isDeleteMarker(version) && version.tags !== undefined);
}
