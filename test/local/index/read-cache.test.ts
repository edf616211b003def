// The read cache: repeated reads are cached until any process commits.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../../../src/engine/engine.ts";
import type { ObjectWithBody } from "../../../src/engine/records.ts";
import { createCacheBudget, createReadCache } from "../../../src/local/index/read-cache.ts";
import type { Bucket } from "../../../src/model/bucket.ts";
import { openEngine } from "../../../src/open.ts";
import { temporaryDirectory } from "../../support/stores.ts";

/** Four reads: after three the value is cached, and the fourth read is from the cache. */
const often = [1, 2, 3, 4];

async function read(engine: Engine): Promise<string | undefined> {
  let text: string | undefined;
  for (const _ of often) {
    const got = await engine.get("bucket", "key");
    const head = await engine.head("bucket", "key");
    assert.equal(got.outcome === "found" ? got.record.version : undefined, head?.version);
    text = got.outcome === "found" ? Buffer.from(got.bytes.inline!).toString() : undefined;
  }
  return text;
}

test("cached objects are read again after every commit of another process", async (t) => {
  const directory = await temporaryDirectory(t);
  const { engine: reader } = await openEngine(directory);
  const { engine: other } = await openEngine(directory);
  t.after(() => Promise.all([reader.close(), other.close()]));
  for (let life = 1; life <= 3; life++) {
    await other.createBucket("bucket");
    assert.equal(await read(reader), undefined);
    for (let version = 1; version <= 40; version++) {
      await other.put("bucket", "key", Buffer.from(`${life}.${version}`));
      assert.equal(await read(reader), `${life}.${version}`);
    }
    await other.changeSettings("bucket", {
      cors: [{ origins: [`${life}`], methods: ["GET"], headers: [], exposed: [] }],
    });
    for (const _ of often) {
      assert.deepEqual((await reader.bucket("bucket"))?.settings.cors?.[0]?.origins, [`${life}`]);
    }
    await other.delete("bucket", ["key"]);
    assert.equal(await read(reader), undefined);
    await other.deleteBucket("bucket");
    assert.equal(await reader.bucket("bucket"), undefined);
    await assert.rejects(reader.get("bucket", "key"), { reason: "NoSuchBucket" });
  }
});

test("changing the returned bytes does not change the cached bytes", async (t) => {
  const { engine } = await openEngine(await temporaryDirectory(t));
  t.after(() => engine.close());
  await engine.createBucket("bucket");
  await engine.put("bucket", "key", Buffer.from("as it was"));
  for (const _ of often) {
    const got = await engine.get("bucket", "key");
    assert.ok(got.outcome === "found");
    for await (const chunk of got.bytes.chunks()) {
      assert.equal(Buffer.from(chunk).toString(), "as it was");
      chunk.fill(0);
    }
  }
});

test("the read cache excludes objects with parts, limits its entries and is bypassed during frequent commits", () => {
  let isChanged = true;
  let reads = 0;
  const changeCounter = {
    hasChanged() {
      const hasChanged = isChanged;
      isChanged = false;
      return hasChanged;
    },
  };
  const cache = createReadCache(changeCounter, createCacheBudget(8));
  const body = (storage: string) => () => {
    reads++;
    return { body: { storage } } as unknown as ObjectWithBody;
  };
  const countReads = (times: number, key: string, storage: string) => {
    reads = 0;
    for (let i = 0; i < times; i++) cache.objectWithBody(key, body(storage));
    return reads;
  };
  // There was no cache hit before the first change, so the next 256 reads bypass the cache.
  assert.equal(countReads(258, "a", "inline"), 258);
  assert.equal(countReads(100, "a", "inline"), 0);
  assert.equal(countReads(100, "parts", "parts"), 100);
  for (let i = 0; i < 8; i++) countReads(1, `other ${i}`, "inline");
  assert.equal(countReads(3, "a", "inline"), 2);
  countReads(100, "a", "inline");
  isChanged = true;
  assert.equal(countReads(100, "a", "inline"), 1);
  cache.close();
});

test("a bucket's record is read once after each commit, also while objects bypass the cache", async () => {
  let commits = 0;
  let seen = -1;
  const hasChanged = () => {
    const hasChanged = commits !== seen;
    seen = commits;
    return hasChanged;
  };
  const cache = createReadCache({ hasChanged }, createCacheBudget());
  let reads = 0;
  let objectReads = 0;
  for (commits = 1; commits <= 10; commits++) {
    for (let i = 0; i < 3; i++) {
      const found = cache.bucket(() => ({ name: `${++reads}` }) as Bucket);
      assert.equal(found?.name, `${commits}`);
      cache.objectWithBody("key", () => {
        objectReads++;
        return { body: { storage: "inline" } } as unknown as ObjectWithBody;
      });
      // The next turn, in which the value of this one is checked again.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  assert.deepEqual([reads, objectReads], [10, 30]);
  assert.equal(cache.bucket(() => undefined)?.name, undefined);
});

test("a bucket's record is read once in each turn of the event loop", async () => {
  const cache = createReadCache({ hasChanged: () => true }, createCacheBudget());
  let reads = 0;
  const read = () => {
    reads++;
    return { name: `${reads}` } as Bucket;
  };
  const inOneTurn = async () => {
    const begin = performance.now();
    const seen = new Set<string>();
    for (let i = 0; i < 3; i++) {
      await undefined;
      seen.add(cache.bucket(read)!.name);
    }
    // In a turn that takes longer than a millisecond the cache reads again, so that turn is not
    // checked.
    return performance.now() - begin < 1 ? seen.size : 1;
  };
  for (let turn = 0; turn < 20; turn++) {
    const before = reads;
    assert.equal(await inOneTurn(), 1);
    assert.ok(reads > before, "the value of the previous turn is not used");
    await new Promise((resolve) => setImmediate(resolve));
  }
  cache.close();
  assert.equal(
    cache.bucket(() => undefined),
    undefined,
  );
});
