// A store for the contracts of versions: each test gets a bucket whose versioning is on. The engine
// changes the settings, because the binding cannot.
import { after } from "node:test";
import { bindBucket } from "../../../../src/binding/bind.ts";
import type { Engine } from "../../../../src/engine/engine.ts";
import type { StoreDeleteMarker, StoreObjectVersion, StorePresigningBucket } from "../../../../src/index.ts";
import type { BucketSettings } from "../../../../src/model/bucket.ts";
import type { Implementation } from "../../../support/stores.ts";
import { type LooseBucket, loose } from "../scene.ts";

export interface VersionedBucket {
  readonly bucket: StorePresigningBucket;
  readonly loose: LooseBucket & LooseVersions;
  change(settings: BucketSettings): Promise<unknown>;
  /** Advances the store's clock by one second and returns its time. */
  tick(): Date;
}

/** The methods for versions without argument types, as an untyped script calls them. */
export interface LooseVersions {
  setTags(...args: unknown[]): Promise<unknown>;
  setRetention(...args: unknown[]): Promise<unknown>;
  setLegalHold(...args: unknown[]): Promise<unknown>;
}

export type CreateBucket = (settings?: BucketSettings) => Promise<VersionedBucket>;

const startTime = Date.parse("2024-01-01T00:00:00.000Z");

/** Call this in a suite, whose tests share one store. Default settings: versioning is on. */
export function versionedBuckets(implementation: Implementation): CreateBucket {
  const endings: (() => unknown)[] = [];
  after(async () => {
    for (const end of endings) await end();
  });
  const suite = { after: (end: () => unknown) => void endings.push(end) };
  let time = startTime;
  let opened: Promise<Engine> | undefined;
  let count = 0;
  return async (settings = { versioning: "on" }) => {
    opened ??= implementation.openEngine(suite as never, { now: () => time });
    const engine = await opened;
    const name = `bucket-${++count}`;
    await engine.createBucket(name);
    const change = (changes: BucketSettings) => engine.changeSettings(name, changes);
    if (Object.keys(settings).length > 0) await change(settings);
    const bucket = bindBucket(engine, name);
    const tick = () => {
      time += 1000;
      return new Date(time);
    };
    return { bucket, loose: loose(bucket) as LooseBucket & LooseVersions, change, tick };
  };
}

/** Settings of a bucket whose versions can be locked. */
export const lockable: BucketSettings = { versioning: "on", objectLock: {} };

/** Returns an entry of a list of versions as one word: "key:size", with "*" if it is current. */
export function summary(entry: StoreObjectVersion | StoreDeleteMarker): string {
  const what = entry.isDeleteMarker ? "deleted" : entry.size;
  return `${entry.key}:${what}${entry.isCurrent ? "*" : ""}`;
}
