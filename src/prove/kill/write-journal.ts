// Collects the reports of writes and derives the allowed values of each key after the process has
// ended: the last acknowledged value, or a value whose write was in flight.
import assert from "node:assert/strict";
import { openStore, type Store } from "../../open.ts";
import { bytesOf, type Value } from "../bodies.ts";
import { assertBytes } from "../bytes.ts";
import { createCutUploads } from "./cut-uploads.ts";
import type { Report, WriteReport } from "./object-writer.ts";
import { coverValue, createVersionJournal, lockedValues, versionedBucket } from "./version-journal.ts";

/** A write that may be the last write of its key. */
interface Write {
  readonly id: number;
  readonly value: Value | null;
  /** Writes that had ended before this write started, so its acknowledgement replaces them. */
  readonly replaces: readonly Write[];
  acknowledged: boolean;
  /** Whether the write was acknowledged or failed: in both cases, every later write replaces it. */
  ended: boolean;
}

export interface WriteJournal {
  /** Records a report; returns the number of writes that it acknowledges. */
  learn(report: Report): number;
  /** Records a report read after the cut: its write may or may not have taken effect. */
  learnInDoubt(report: Report): void;
  /** Opens the directory, compares it with the reports; returns the number of objects and versions. */
  assertRecovered(directory: string): Promise<number>;
}

/** `afterRecovery` checks the directory after it was compared and closed. */
export function createWriteJournal(
  buckets: readonly string[],
  afterRecovery?: (directory: string) => void,
): WriteJournal {
  const known = new Map<string, Write[]>();
  const batches = new Map<number, WriteReport>();
  const uploads = createCutUploads();
  const versions = buckets.includes(versionedBucket) ? createVersionJournal() : undefined;
  if (versions !== undefined)
    for (const { key } of lockedValues)
      known.set(addressOf(versionedBucket, key), [{ ...nothing(), value: coverValue }]);

  function learnWrite(report: WriteReport): number {
    const { said, id, bucket, keys, value } = report;
    if (bucket === versionedBucket) versions?.learn(report);
    if (keys.length > 1 && said === "trying") batches.set(id, report);
    else batches.delete(id);
    for (const key of keys) {
      const address = addressOf(bucket, key);
      const writes = known.get(address) ?? [nothing()];
      known.set(address, after(writes, said, id, value));
    }
    return said === "done" ? 1 : 0;
  }

  /** Returns the existing keys of each interrupted batch delete: all or none must be deleted. */
  function cutBatches(): string[][] {
    return [...batches.values()].map(({ bucket, keys, id }) =>
      keys
        .map((key) => addressOf(bucket, key))
        .filter((address) => {
          const writes = known.get(address)!;
          // A later write in doubt may have created a key again that the batch has deleted.
          const isLast = writes.at(-1)!.id === id;
          return isLast && writes.every((write) => write.id === id || write.value !== null);
        }),
    );
  }

  async function assertObjects(store: Store): Promise<number> {
    const cut = cutBatches();
    batches.clear();
    for (const [address, writes] of known) {
      const found = await assertOneOf(store, address, writes);
      known.set(address, [{ ...nothing(), value: found }]);
    }
    const isThere = (address: string) => known.get(address)![0]!.value !== null;
    for (const addresses of cut) {
      const left = addresses.filter(isThere);
      const isWhole = left.length === 0 || left.length === addresses.length;
      assert.ok(isWhole, `a delete of ${addresses.join(", ")} in one batch has left ${left.join(", ")}`);
    }
    let objects = 0;
    for (const name of buckets) objects += await assertListed(store, name, [...known.keys()].filter(isThere));
    return objects;
  }

  return {
    learn(report) {
      if (!("upload" in report)) return learnWrite(report);
      uploads.learn(report);
      return 0;
    },
    learnInDoubt(report) {
      if ("upload" in report) {
        if (report.said === "ending") uploads.learn(report);
      } else if (report.said === "trying") learnWrite(report);
    },
    async assertRecovered(directory) {
      const store = await openStore(directory);
      let objects = 0;
      try {
        objects = await assertObjects(store);
        objects += (await versions?.assertRecovered(directory)) ?? 0;
        for (const { bucket, key, value } of await uploads.end(store)) {
          known.set(addressOf(bucket, key), [{ ...nothing(), value }]);
          if (bucket === versionedBucket) versions?.add(key, value);
        }
        await store.sweep();
      } finally {
        await store.close();
      }
      afterRecovery?.(directory);
      return objects;
    },
  };
}

const addressOf = (bucket: string, key: string) => `${bucket} ${key}`;

function nothing(): Write {
  return { id: -1, value: null, replaces: [], acknowledged: true, ended: true };
}

function after(
  writes: readonly Write[],
  said: WriteReport["said"],
  id: number,
  value: Value | null,
): Write[] {
  if (said === "trying") {
    const replaces = writes.filter(({ ended }) => ended);
    return [...writes, { id, value, replaces, acknowledged: false, ended: false }];
  }
  const write = writes.find((write) => write.id === id);
  assert.ok(write !== undefined, `write ${id} was reported as started`);
  write.ended = true;
  // A failed write may or may not have taken effect.
  if (said === "failed") return [...writes];
  if (said === "refused") return writes.filter((other) => other !== write);
  write.acknowledged = true;
  return writes.filter((other) => !write.replaces.includes(other));
}

/** Asserts that the key has one of the allowed values, complete; returns that value. */
async function assertOneOf(store: Store, address: string, writes: readonly Write[]): Promise<Value | null> {
  const [bucket = "", ...rest] = address.split(" ");
  const key = rest.join(" ");
  const found = await store.bucket(bucket).get(key);
  const allowed = () => JSON.stringify(writes.map(({ value, acknowledged }) => ({ value, acknowledged })));
  if (found === null) {
    assert.ok(
      writes.some(({ value }) => value === null),
      `"${address}" is missing, allowed are ${allowed()}`,
    );
    return null;
  }
  const bytes = await found.bytes();
  for (const { value } of writes) if (value !== null && bytesOf(key, value).equals(bytes)) return value;
  const expected = writes.find(({ value }) => value !== null)?.value;
  assert.ok(expected, `"${address}" exists with ${bytes.length} bytes, allowed are ${allowed()}`);
  assertBytes(bytes, bytesOf(key, expected), `"${address}", ${allowed()}`);
  return expected;
}

async function assertListed(store: Store, name: string, addresses: readonly string[]): Promise<number> {
  const { objects } = await store.bucket(name).list();
  const expected = addresses.filter((address) => address.startsWith(`${name} `));
  assert.deepEqual(
    objects.map(({ key }) => addressOf(name, key)),
    expected.sort(),
    `the keys of ${name}`,
  );
  return objects.length;
}
