// What a writer has told of its writes, and from that what a directory must hold once the writer has ended in
// whatever way: every acknowledged write, of the others each whole or not at all, and no byte besides.
import assert from "node:assert/strict";
import { openStore, type Store } from "../../src/index.ts";
import { assertBytes } from "../support/bytes.ts";
import { bytesOf, type Value } from "./bodies.ts";
import type { Report } from "./kill-writer.ts";
import { assertNothingLeftOver } from "./on-disk.ts";

export interface Ledger {
  /** How many writes this report acknowledges. */
  learn(report: Report): number;
  /** A report that may have come after the end: what it tells of was tried, and is not owed. */
  learnInDoubt(report: Report): void;
  /** Opens the directory, holds it against all that is known, and closes it; how many objects were read. */
  assertRecovered(directory: string): Promise<number>;
}

/** What a key may hold: what was acknowledged last, or what was being written when the process died. */
interface Known {
  acknowledged: Value | null;
  tried: (Value | null)[];
}

export function createLedger(buckets: readonly string[]): Ledger {
  const known = new Map<string, Known>();

  function entryOf(bucket: string, key: string): Known {
    const place = `${bucket} ${key}`;
    const of = known.get(place) ?? { acknowledged: null, tried: [] };
    known.set(place, of);
    return of;
  }

  async function assertContent(store: Store): Promise<number> {
    for (const [place, of] of known) {
      const [bucket = "", ...key] = place.split(" ");
      of.acknowledged = await assertOneOf(store, bucket, key.join(" "), of);
      of.tried = [];
    }
    const expected = [...known].filter(([, of]) => of.acknowledged !== null).map(([place]) => place);
    for (const name of buckets) {
      const found = (await keysOf(store, name)).map((key) => `${name} ${key}`);
      const here = expected.filter((place) => place.startsWith(`${name} `));
      assert.deepEqual(found.sort(), here.sort(), `the keys of ${name}`);
    }
    return expected.length;
  }

  return {
    learn({ said, bucket, keys, value }) {
      for (const key of keys) {
        const of = entryOf(bucket, key);
        if (said === "done") of.acknowledged = value;
        of.tried = said === "done" ? [] : [value];
      }
      return said === "done" ? 1 : 0;
    },
    learnInDoubt({ bucket, keys, value }) {
      for (const key of keys) entryOf(bucket, key).tried.push(value);
    },
    async assertRecovered(directory) {
      const store = await openStore(directory);
      let objects = 0;
      try {
        objects = await assertContent(store);
        await store.sweep();
      } finally {
        await store.close();
      }
      assertNothingLeftOver(directory);
      return objects;
    },
  };
}

async function keysOf(store: Store, name: string): Promise<string[]> {
  const keys: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.bucket(name).list(cursor === undefined ? {} : { cursor });
    keys.push(...page.objects.map(({ key }) => key));
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
  return keys;
}

/** Which of the values that may be there is there, whole. */
async function assertOneOf(store: Store, bucket: string, key: string, of: Known): Promise<Value | null> {
  const found = await store.bucket(bucket).get(key);
  const possible = [of.acknowledged, ...of.tried];
  if (found === null) {
    assert.ok(possible.includes(null), `"${key}" was acknowledged as ${JSON.stringify(of)} and is gone`);
    return null;
  }
  const bytes = await found.bytes();
  const first = possible.find((value) => value !== null && bytesOf(key, value).equals(bytes));
  if (first !== undefined && first !== null) return first;
  const expected = possible.find((value) => value !== null);
  assert.ok(expected, `"${key}" is there, with ${bytes.length} bytes, though ${JSON.stringify(of)}`);
  assertBytes(bytes, bytesOf(key, expected), `"${key}", ${JSON.stringify(of)}`);
  return assert.fail(`"${key}" is none of ${JSON.stringify(of)}`);
}
