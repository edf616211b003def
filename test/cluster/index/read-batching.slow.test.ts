// Concurrent reads that share a statement: each gets its own object, wherever its body is stored.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Body, Mutation } from "../../../src/engine/records.ts";
import { inChunks, sampleBytes } from "../../support/bytes.ts";
import {
  inBlob,
  inline,
  inParts,
  partRecord,
  plain,
  putObject,
  randomHex,
  uploadRecord,
} from "../../support/samples.ts";
import { useCluster } from "../scene.ts";

const cluster = useCluster();
const bucketRecord = { created: 0, storageClass: "Standard", account: "default" } as const;

test("concurrent reads with bodies share statements, and each returns its own object and body", async (t) => {
  const scene = await cluster.scene(t);
  const { records, blobs } = await scene.open();
  for (const name of ["one", "two"]) await records.createBucket({ name, ...bucketRecord });
  const stage = async () => {
    const staged = await blobs.stage("one", inChunks(sampleBytes(5), 5));
    staged.keep();
    return staged.id;
  };
  const bodies = new Map<string, Body>();
  for (let i = 0; i < 20; i++) bodies.set(`inline-${i}`, inline(`text ${i}`));
  bodies.set("blob", inBlob(await stage()));
  const [first, second] = [await stage(), await stage()];
  bodies.set("parts", inParts(first, second));
  const upload = uploadRecord("parts");
  const mutations: Mutation[] = [
    { kind: "put upload", record: upload },
    { kind: "put part", uploadId: upload.id, part: partRecord(1, first) },
    { kind: "put part", uploadId: upload.id, part: partRecord(2, second) },
    ...[...bodies].map(([key, body]) => putObject(key, body)),
    { kind: "end parts", uploadId: upload.id, taken: [1, 2] },
  ];
  assert.equal(await records.commit("one", { mutations }), "committed");
  const other = putObject("inline-1", inline("of another bucket"), randomHex());
  assert.equal(await records.commit("two", { mutations: [other] }), "committed");

  const read = async (name: string, key: string) => plain((await records.objectWithBody(name, key))?.body);
  for (let round = 0; round < 3; round++) {
    const keys = [...bodies.keys(), "missing", ...bodies.keys()];
    const found = Promise.all(keys.map((key) => read("one", key)));
    const inOther = Promise.all(keys.map((key) => read("two", key)));
    const lost = Promise.allSettled(keys.map((key) => read("three", key)));
    assert.deepEqual(
      await found,
      keys.map((key) => plain(bodies.get(key))),
    );
    const expected = keys.map((key) => (key === "inline-1" ? plain(inline("of another bucket")) : undefined));
    assert.deepEqual(await inOther, expected);
    for (const outcome of await lost) {
      assert.equal(outcome.status === "rejected" && outcome.reason.reason, "NoSuchBucket");
    }
  }
});
