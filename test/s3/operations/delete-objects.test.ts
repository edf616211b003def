// DeleteObjects with many targets and costly policies: its work is bounded, and other requests run
// in between.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../../../src/engine/engine.ts";
import { openEngine } from "../../../src/open.ts";
import { type DirectAnswer, type DirectScene, directScene } from "../direct.ts";
import type { Key } from "../scene.ts";
import { bucket, texts, withMd5 } from "../versioned.ts";

interface Target {
  readonly key: string;
  readonly version?: string;
  readonly etag?: string;
}

function deleteAll(
  { ask }: DirectScene,
  targets: readonly Target[],
  { key, headers = {} }: { key?: Key; headers?: Readonly<Record<string, string>> } = {},
): Promise<DirectAnswer> {
  const objects = targets.map(({ key: name, version, etag }) => {
    const more = `${version ? `<VersionId>${version}</VersionId>` : ""}${etag ? `<ETag>${etag}</ETag>` : ""}`;
    return `<Object><Key>${name}</Key>${more}</Object>`;
  });
  const { body, headers: md5 } = withMd5(`<Delete>${objects.join("")}</Delete>`, headers);
  const request = { method: "POST", path: `/${bucket}`, query: [["delete", ""]] as const };
  return ask({ ...request, headers: md5!, body: Buffer.from(body!) }, key === undefined ? {} : { key });
}

function deny(fields: Record<string, unknown>): Record<string, unknown> {
  return { Effect: "Deny", Principal: "*", Action: "s3:DeleteObject", ...fields };
}

async function sceneWith(t: { after(run: () => Promise<void>): void }, ...statements: unknown[]) {
  const scene = await directScene(t);
  await scene.engine.createBucket(bucket);
  if (statements.length > 0) {
    const policy = JSON.stringify({ Version: "2012-10-17", Statement: statements });
    await scene.engine.changeSettings(bucket, { policy });
  }
  return scene;
}

/** Keys of the longest possible length. */
function longKeys(count: number): readonly Target[] {
  return Array.from({ length: count }, (_, i) => ({ key: `${"a".repeat(1019)}${10_000 + i}` }));
}

/** Returns how often other work ran while the promise was pending. */
async function countTurns(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let immediate = setImmediate(function count() {
    turns++;
    immediate = setImmediate(count);
  });
  await work;
  clearImmediate(immediate);
  return turns;
}

test("other requests run while 1,000 keys are decided", async (t) => {
  const resources = Array.from({ length: 500 }, (_, i) => `arn:aws:s3:::${bucket}/*${i}x`);
  const scene = await sceneWith(t, deny({ Resource: resources }));
  const few = await countTurns(deleteAll(scene, longKeys(1)));
  const many = await countTurns(deleteAll(scene, longKeys(1000)));
  assert.ok(many >= few + 15, `${many} turns for 1,000 keys, ${few} for one`);
});

test("other requests run while the conditions of 1,000 versions are evaluated", async (t) => {
  const scene = await sceneWith(t);
  const targets = Array.from({ length: 1000 }, (_, i) => ({ key: `${i}`, version: "null", etag: "a" }));
  for (const { key } of targets) await scene.engine.put(bucket, key, Buffer.from(key));
  const few = await countTurns(deleteAll(scene, targets.slice(0, 1)));
  const many = await countTurns(deleteAll(scene, targets));
  assert.ok(many >= few + 15, `${many} turns for 1,000 versions, ${few} for one`);
});

test("the decisions of one request share a budget, and the keys that exceed it are not deleted", async (t) => {
  const costly = `arn:aws:s3:::${bucket}/*${"a".repeat(300)}b*`;
  const scene = await sceneWith(t, deny({ Resource: costly }), deny({ Resource: costly.replace("b", "c") }));
  const targets = longKeys(100);
  const value = Buffer.from("x");
  for (const { key } of targets) await scene.engine.put(bucket, key, value);
  const { status, text } = await deleteAll(scene, targets);
  assert.equal(status, 200);
  const deleted = text.split("<Deleted>").length - 1;
  assert.ok(deleted > 10 && deleted < 90, `${deleted} of 100 were deleted`);
  assert.deepEqual(texts(text, "Code"), Array(100 - deleted).fill("AccessDenied"));
  const kept = await Promise.all(targets.map(({ key }) => scene.engine.head(bucket, key)));
  assert.equal(kept.filter((one) => one !== undefined).length, 100 - deleted);
  assert.match((await deleteAll(scene, targets.slice(-1))).text, /<Deleted>/);
});

test("a target that is named 1,000 times is evaluated once, and has 1,000 results", async (t) => {
  const { engine, documents } = await openEngine("memory:");
  t.after(() => engine.close());
  let reads = 0;
  const counting: Engine = {
    ...engine,
    head: (...given) => {
      reads++;
      return engine.head(...given);
    },
  };
  const scene = await directScene(t, {}, { engine: counting, documents });
  await engine.createBucket(bucket);
  await engine.put(bucket, "a", Buffer.from("x"));
  const same = Array.from({ length: 999 }, () => ({ key: "a", version: "null", etag: "other" }));
  const { text } = await deleteAll(scene, [...same, { key: "b" }]);
  assert.deepEqual(texts(text, "Code"), Array(999).fill("PreconditionFailed"));
  assert.match(text, /<Deleted><Key>b<\/Key><\/Deleted>/);
  assert.equal(reads, 1);
});

test("the same key with and without a condition or a version is two targets", async (t) => {
  const scene = await sceneWith(t);
  await scene.engine.put(bucket, "a", Buffer.from("x"));
  const refused = await deleteAll(scene, [
    { key: "a", etag: "other" },
    { key: "a", version: "f".repeat(32) },
  ]);
  assert.deepEqual(texts(refused.text, "Code"), ["PreconditionFailed"]);
  assert.equal(refused.text.split("<Deleted>").length, 2);
  const { text } = await deleteAll(scene, [{ key: "a" }, { key: "a" }]);
  assert.equal(text.split("<Deleted>").length, 3);
  assert.equal(await scene.engine.head(bucket, "a"), undefined);
});
