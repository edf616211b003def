// Fills a store with every kind of data that a copy must include, and reads its contents back.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createEngine } from "../../src/engine/create.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { sampleBytes, toArray } from "./bytes.ts";
import type { Ports } from "./ports.ts";
import { plain } from "./samples.ts";

export const customerKey = randomBytes(32);
/** A small part size, so that an object in parts need not be large. */
const partBytes = 70_000;

export const sealedBody = sampleBytes(150_000);
export const partsBody = sampleBytes(2 * partBytes + 10);

/** Fills the store of the ports, which stay open. */
export async function fill({ records, blobs }: Ports): Promise<void> {
  let now = 1_700_000_000_000;
  const engine = createEngine({ records: unclosed(records), blobs: unclosed(blobs), now: () => now++ });
  await engine.createBucket("photos", { storageClass: "InfrequentAccess", account: "someone" });
  await engine.changeSettings("photos", {
    cors: [{ origins: ["*"], methods: ["GET"], headers: [], exposed: [], maxAgeSeconds: 60 }],
    lifecycle: [{ id: "rule", isEnabled: true, prefix: "old/", expire: { days: 30_000 } }],
  });
  await engine.createBucket("empty");
  await engine.put("photos", "small", sampleBytes(10), {
    httpMetadata: { contentType: "text/plain", cacheControl: "max-age=1", cacheExpiry: 1_900_000_000_000 },
    customMetadata: new Map([
      ["b", "2"],
      ["a", "1"],
    ]),
    checksums: [],
  });
  await engine.put("photos", "nothing", new Uint8Array());
  await engine.put("photos", "large", sampleBytes(300_000), { storageClass: "Standard" });
  await engine.put("photos", "sealed small", sampleBytes(100), { customerKey });
  await engine.put("photos", "sealed large", sealedBody, { customerKey });
  for (const key of ["\u{10000}", "\uffff", "a/../b", "a//", "ü"])
    await engine.put("photos", key, sampleBytes(7));
  await putInParts(engine, "in parts", undefined);
  await putInParts(engine, "sealed parts", customerKey);
  await startUpload(engine);
  await engine.close();
  const { documents } = records;
  for (const kind of ["secret", "credential", "own access key"]) {
    await documents.put(kind, `a ${kind}`, `the text of a ${kind}`, undefined);
  }
}

async function putInParts(engine: Engine, key: string, ownKey: Uint8Array | undefined): Promise<void> {
  const upload = await engine.createUpload("photos", key, {
    customerKey: ownKey,
    customMetadata: new Map([["made", "of parts"]]),
    ...(ownKey === undefined ? { checksum: { algorithm: "sha256", of: "parts" } } : {}),
  });
  const parts = [];
  for (const number of [1, 2, 3]) {
    const bytes = partsBody.subarray((number - 1) * partBytes, number * partBytes);
    parts.push(await engine.uploadPart("photos", upload, number, bytes, { customerKey: ownKey }));
  }
  await engine.completeUpload("photos", upload, parts);
}

async function startUpload(engine: Engine): Promise<void> {
  const upload = await engine.createUpload("photos", "on its way");
  for (const number of [1, 3])
    await engine.uploadPart("photos", upload, number, sampleBytes(100_000 + number));
  const ended = await engine.createUpload("photos", "given up");
  await engine.abortUpload("photos", ended);
}

/** Returns a port that ignores `close`, because the tests use it after the engine is closed. */
function unclosed<T extends { close(): Promise<void> }>(port: T): T {
  return { ...port, close: async () => {} };
}

/** Returns all records without the names of blobs, which differ between a store and its copy. */
export async function contentsOf({ records }: Ports): Promise<unknown> {
  const buckets = [];
  for (const { name } of await records.buckets()) {
    const objects = await toArray(records.inspect(name));
    const uploads = await records.uploads(name, { prefix: "", after: undefined, limit: 1000 });
    buckets.push({
      bucket: await records.bucket(name),
      totals: await records.totals(name),
      objects: objects.map(({ key, found }) => ({ key, found: withoutNames(plain(found)) })),
      uploads: plain(uploads),
      parts: await Promise.all(
        uploads.map(async ({ id }) =>
          (await records.parts(name, id)).map(({ blob: _, ...part }) => plain(part)),
        ),
      ),
    });
  }
  const kinds = ["secret", "credential", "own access key"];
  const documents = await Promise.all(
    kinds.map(async (kind) => (await records.documents.list(kind)).map(({ name, text }) => [name, text])),
  );
  return { buckets, documents };
}

function withoutNames(found: unknown): unknown {
  return JSON.parse(JSON.stringify(found, (name, value) => (name === "blob" ? value.size : value)));
}

/** Asserts that the engine's verification finds no damaged and no orphaned data. */
export async function assertSound({ records, blobs }: Ports): Promise<void> {
  const engine = createEngine({ records: unclosed(records), blobs: unclosed(blobs) });
  const { damages } = await engine.verify();
  await engine.close();
  assert.deepEqual(damages, []);
}
