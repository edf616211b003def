// Collects the reports of writes to a versioned bucket. After the process has ended, every acknowledged
// version must exist exactly once, with its bytes, in an order that the reports allow.
import assert from "node:assert/strict";
import { createEngine } from "../../engine/create.ts";
import type { Engine } from "../../engine/engine.ts";
import type { ObjectLock } from "../../model/lock.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { isDeleteMarker, type Version } from "../../model/version.ts";
import { bytesOf, digestOf, type Value } from "../bodies.ts";
import { collect } from "../bytes.ts";
import type { WriteReport } from "./object-writer.ts";

/** A bucket of this name has versions. */
export const versionedBucket = "load-versions";

/** Versions that are locked before the first crash, each below another version of its key. */
export const lockedValues: readonly {
  readonly key: string;
  readonly value: Value;
  readonly lock: ObjectLock;
}[] = [
  { key: "locked/hold", value: { name: "held", size: 300 }, lock: { legalHold: true } },
  {
    key: "locked/retention",
    value: { name: "retained", size: 20_000 },
    lock: { retention: { mode: "compliance", until: Date.UTC(2100, 0, 1) } },
  },
];
export const coverValue: Value = { name: "cover", size: 400 };

/** Number of newest versions of each key that stay after a check; all others are deleted. */
const keptVersions = 3;
/** Bodies of fewer bytes do not identify their write. */
const namedBytes = 100;

interface Attempt {
  readonly id: number;
  readonly value: Value | null;
  /** Numbers of the reports of its start and of its end. */
  readonly begun: number;
  ended: number;
  isAcknowledged: boolean;
}

export interface VersionJournal {
  learn(report: WriteReport): void;
  /** Records a version that was written after the check. */
  add(key: string, value: Value): void;
  /** Checks all versions and deletes old ones; returns the number of versions read. */
  assertRecovered(directory: string): Promise<number>;
}

/** Turns versioning on in the existing bucket and writes the locked versions. */
export async function prepareVersions(directory: string): Promise<void> {
  const engine = await openEngine(directory);
  await engine.changeSettings(versionedBucket, { versioning: "on", objectLock: {} });
  for (const { key, value, lock } of lockedValues) {
    await engine.put(versionedBucket, key, bytesOf(key, value), { lock });
    await engine.put(versionedBucket, key, bytesOf(key, coverValue));
  }
  await engine.close();
}

async function openEngine(directory: string): Promise<Engine> {
  const { openLocal } = await import("../../local/open.ts");
  const { records, blobs } = await openLocal(directory);
  return createEngine({ records, blobs });
}

export function createVersionJournal(): VersionJournal {
  const known = new Map<string, Attempt[]>();
  let reports = 0;

  function attemptsOf(key: string): Attempt[] {
    const found = known.get(key) ?? [];
    known.set(key, found);
    return found;
  }

  function add(key: string, value: Value | null): void {
    const at = reports++;
    attemptsOf(key).push({ id: -1, value, begun: at, ended: at, isAcknowledged: true });
  }

  for (const { key, value } of lockedValues) {
    add(key, value);
    add(key, coverValue);
  }

  return {
    add,
    learn({ said, id, keys, value }) {
      const at = reports++;
      for (const key of keys) {
        const attempts = attemptsOf(key);
        if (said === "trying") {
          attempts.push({ id, value, begun: at, ended: Number.POSITIVE_INFINITY, isAcknowledged: false });
          continue;
        }
        const attempt = attempts.findLast((attempt) => attempt.id === id);
        assert.ok(attempt !== undefined, `write ${id} was reported as started`);
        if (said === "refused") attempts.splice(attempts.indexOf(attempt), 1);
        attempt.ended = at;
        attempt.isAcknowledged = said === "done";
      }
    },
    async assertRecovered(directory) {
      const engine = await openEngine(directory);
      let read = 0;
      try {
        const versions = await readVersions(engine);
        for (const key of new Set([...known.keys(), ...versions.keys()])) {
          const found = versions.get(key) ?? [];
          assertVersions(key, found, known.get(key) ?? []);
          read += found.length;
          known.set(key, []);
          for (const { value } of await prune(engine, key, found)) add(key, value);
        }
        await assertLocked(engine);
      } finally {
        await engine.close();
      }
      return read;
    },
  };
}

interface FoundVersion {
  readonly version: Version;
  /** Undefined for a delete marker. */
  readonly digest: string | undefined;
  /** The value that was found, once the version was checked; null for a delete marker. */
  value: Value | null;
}

/** Returns the versions of each key, oldest first, with the digests of their bytes. */
async function readVersions(engine: Engine): Promise<Map<string, FoundVersion[]>> {
  const found = new Map<string, FoundVersion[]>();
  for (let after: Parameters<Engine["listVersions"]>[1] = {}; ; ) {
    const { versions, next } = await engine.listVersions(versionedBucket, after);
    for (const { version } of versions) {
      const digest = isDeleteMarker(version) ? undefined : await digestOfBytes(engine, version);
      found.set(version.key, [{ version, digest, value: null }, ...(found.get(version.key) ?? [])]);
    }
    if (next === undefined) return found;
    after = { after: next };
  }
}

async function digestOfBytes(engine: Engine, { key, version }: ObjectRecord): Promise<string> {
  const got = await engine.get(versionedBucket, key, { version });
  assert.ok(got.outcome === "found", `a listed version of "${key}" is readable`);
  return digestOf(await collect(got.bytes.chunks()));
}

/** Assigns each version, oldest first, to a write that may have made it. */
function assertVersions(key: string, found: readonly FoundVersion[], attempts: readonly Attempt[]): void {
  const left = new Map<string | undefined, Attempt[]>();
  for (const attempt of attempts) {
    const { value } = attempt;
    const digest = value === null ? undefined : digestOf(bytesOf(key, value));
    left.set(digest, [...(left.get(digest) ?? []), attempt]);
  }
  let latestBegun = -1;
  for (const one of found) {
    const same = left.get(one.digest) ?? [];
    const described = () => JSON.stringify({ one, found, attempts });
    assert.ok(
      same.length > 0,
      `"${key}" has a version that no write made, or made once only: ${described()}`,
    );
    // Of writes that cannot be told apart, acknowledged ones come first.
    const attempt = same.find(({ isAcknowledged }) => isAcknowledged) ?? same[0]!;
    same.splice(same.indexOf(attempt), 1);
    one.value = attempt.value;
    if (attempt.value === null || attempt.value.size < namedBytes) continue;
    assert.ok(attempt.ended > latestBegun, `the versions of "${key}" are in the order of their writes`);
    latestBegun = Math.max(latestBegun, attempt.begun);
  }
  const lost = [...left.values()].flat().filter(({ isAcknowledged }) => isAcknowledged);
  assert.deepEqual(lost, [], `every acknowledged version of "${key}" exists`);
}

/** Deletes all but the newest versions; returns the versions that are left. */
async function prune(engine: Engine, key: string, found: readonly FoundVersion[]): Promise<FoundVersion[]> {
  const old = found.slice(0, Math.max(0, found.length - keptVersions));
  const targets = old.map(({ version: { version } }) => ({ key, version }));
  if (targets.length === 0) return [...found];
  const outcomes: string[] = [];
  for (let at = 0; at < targets.length; at += 1000) {
    const page = await engine.deleteVersions(versionedBucket, targets.slice(at, at + 1000));
    outcomes.push(...page.map(({ outcome }) => outcome));
  }
  return [...old.filter((_, i) => outcomes[i] === "locked"), ...found.slice(old.length)];
}

/** Asserts that the locked versions exist, have their bytes and cannot be deleted. */
async function assertLocked(engine: Engine): Promise<void> {
  const { versions } = await engine.listVersions(versionedBucket, { prefix: "locked/" });
  for (const { key, value, lock } of lockedValues) {
    const ofKey = versions.map(({ version }) => version).filter((version) => version.key === key);
    const oldest = ofKey.at(-1);
    assert.ok(oldest !== undefined && !isDeleteMarker(oldest), `the locked version of "${key}" exists`);
    assert.deepEqual(oldest.lock, lock, `the version of "${key}" is locked`);
    assert.equal(await digestOfBytes(engine, oldest), digestOf(bytesOf(key, value)), `the bytes of "${key}"`);
    const target = { key, version: oldest.version };
    const [deletion] = await engine.deleteVersions(versionedBucket, [target], { bypassGovernance: true });
    assert.equal(deletion?.outcome, "locked", `the locked version of "${key}" cannot be deleted`);
  }
}
