// What is read again and again is kept until somebody commits, whoever that is.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../../../src/engine/engine.ts";
import type { ObjectWithBody } from "../../../src/engine/records.ts";
import { createCacheBudget, createReadCache } from "../../../src/local/index/read-cache.ts";
import type { Bucket } from "../../../src/model/bucket.ts";
import { openEngine } from "../../../src/open.ts";
import { temporaryDirectory } from "../../support/stores.ts";

/** Asked for three times, it is kept; the fourth answer is from what was kept. */
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

test("what was read often is read anew after every commit of another process", async (t) => {
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

test("a caller that writes into the bytes it was given changes nobody else's", async (t) => {
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

test("lists of parts are not kept, nor more than there is room for, nor much between commits", () => {
  let isChanged = true;
  let reads = 0;
  const glance = {
    hasChanged() {
      const told = isChanged;
      isChanged = false;
      return told;
    },
  };
  const recent = createReadCache(glance, createCacheBudget(8));
  const body = (home: string) => () => {
    reads++;
    return { body: { home } } as unknown as ObjectWithBody;
  };
  const readsOf = (times: number, key: string, home: string) => {
    reads = 0;
    for (let i = 0; i < times; i++) recent.objectWithBody(key, body(home));
    return reads;
  };
  // The first commit it hears of comes after no answer at all: it rests.
  assert.equal(readsOf(258, "a", "inline"), 258);
  assert.equal(readsOf(100, "a", "inline"), 0);
  assert.equal(readsOf(100, "parts", "parts"), 100);
  for (let i = 0; i < 8; i++) readsOf(1, `other ${i}`, "inline");
  assert.equal(readsOf(3, "a", "inline"), 2);
  readsOf(100, "a", "inline");
  isChanged = true;
  assert.equal(readsOf(100, "a", "inline"), 1);
  recent.close();
});

test("a bucket is looked at once for all that one turn asks, and anew in the next", async () => {
  const recent = createReadCache({ hasChanged: () => true }, createCacheBudget());
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
      seen.add(recent.bucket(read)!.name);
    }
    // Who takes long over it looks again.
    return performance.now() - begin < 1 ? seen.size : 1;
  };
  for (let turn = 0; turn < 20; turn++) {
    const before = reads;
    assert.equal(await inOneTurn(), 1);
    assert.ok(reads > before, "the last turn's is not this one's");
    await new Promise((resolve) => setImmediate(resolve));
  }
  recent.close();
  assert.equal(
    recent.bucket(() => undefined),
    undefined,
  );
});
