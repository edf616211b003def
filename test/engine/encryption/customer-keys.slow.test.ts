// Encryption with a customer's key against an attacker who reads and writes the disk: no plaintext
// or key is stored, and changed or moved data is refused even with correct checksums.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import { createEngine } from "../../../src/engine/create.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import type { Body, ObjectWithBody } from "../../../src/engine/records.ts";
import { StoreError } from "../../../src/index.ts";
import { openLocal } from "../../../src/local/open.ts";
import type { ObjectRecord } from "../../../src/model/object.ts";
import { collect, inChunks } from "../../support/bytes.ts";
import { filesWith, writtenForms } from "../../support/disk/secrecy.ts";
import type { Ports } from "../../support/ports.ts";
import { temporaryDirectory } from "../../support/stores.ts";

const bucket = "sealed";
const block = 256;
/** Size of an encrypted block, and of the salt before the first block. */
const sealedBlock = block + 16;
const salt = 16;
const customerKey = randomBytes(32);

const bodies: Readonly<Record<string, Buffer>> = {
  inline: text("inline", 150),
  "inline too": text("inline too", 150),
  file: text("file", 5 * block),
  "file too": text("file too", 5 * block),
  parts: text("parts", 6 * block),
  "parts too": text("parts too", 6 * block),
};

/** Returns text without repetitions, so that a search for any part of it is meaningful. */
function text(name: string, length: number): Buffer {
  let result = "";
  for (let i = 0; result.length < length; i++)
    result += createHash("sha256").update(`${name} ${i}`).digest("hex");
  return Buffer.from(result.slice(0, length));
}

interface Scene extends Ports {
  readonly directory: string;
  readonly engine: Engine;
  close(): Promise<void>;
  found(key: string): Promise<ObjectWithBody>;
  /** Returns the encrypted bytes of a body. */
  sealedBytes(body: Body): Promise<Buffer>;
  /** Commits a forged record and body with correct checksums. */
  forge(record: ObjectRecord, body: Body): Promise<void>;
  forgeBytes(record: ObjectRecord, body: Body, bytes: Uint8Array): Promise<void>;
  /** Copies a body, so that another record can reference the copy. */
  copied(body: Body): Promise<Body>;
}

async function scene(t: TestContext): Promise<Scene> {
  const directory = await temporaryDirectory(t);
  const open = async () => {
    const ports = await openLocal(directory, { blockBytes: block, folderFiles: 64 });
    return { ports, engine: createEngine({ ...ports, inlineBytes: block, blockBytes: block }) };
  };
  const first = await open();
  await first.engine.createBucket(bucket);
  for (const [key, bytes] of Object.entries(bodies)) await store(first.engine, key, bytes);
  await first.engine.close();
  // Forge on a new engine: the engine that wrote the bodies would delete them once replaced.
  const { ports, engine } = await open();
  const { records, blobs } = ports;
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= engine.close();
    return closing;
  };
  t.after(close);

  async function forge(record: ObjectRecord, body: Body): Promise<void> {
    const outcome = await records.commit(bucket, { mutations: [{ kind: "put object", record, body }] });
    assert.equal(outcome, "committed");
  }

  async function stage(bytes: Uint8Array): Promise<{ id: string; size: number }> {
    const blob = await blobs.stage(bucket, inChunks(bytes, 100));
    blob.keep();
    return { id: blob.id, size: blob.size };
  }

  async function sealedBytes(body: Body): Promise<Buffer> {
    if (body.storage === "inline") return Buffer.from(body.bytes);
    const all = body.storage === "blob" ? [body.blob] : body.parts.map(({ blob }) => blob);
    const reader = (await blobs.open(bucket, all, async () => true))!;
    const chunks = [];
    for (const blob of all) chunks.push(await collect(reader.read(blob, { offset: 0, length: blob.size })));
    await reader.close();
    return Buffer.concat(chunks);
  }

  return {
    ...{ ...ports, directory, engine, close, forge },
    async found(key) {
      return (await records.objectWithBody(bucket, key))!;
    },
    async copied(body) {
      if (body.storage !== "blob") return body;
      return { storage: "blob", blob: await stage(await sealedBytes(body)) };
    },
    sealedBytes,
    async forgeBytes(record, body, bytes) {
      if (body.storage === "inline") return forge(record, { storage: "inline", bytes });
      if (body.storage === "blob") return forge(record, { storage: "blob", blob: await stage(bytes) });
      // Only the first part of the body is forged.
      const [first, ...rest] = body.parts;
      await forge(record, { storage: "parts", parts: [{ ...first!, blob: await stage(bytes) }, ...rest] });
    },
  };
}

async function store(engine: Engine, key: string, bytes: Buffer): Promise<void> {
  if (!key.startsWith("parts")) {
    await engine.put(bucket, key, bytes, { customerKey });
    return;
  }
  const { id } = await engine.createUpload(bucket, key, { customerKey });
  const parts = [];
  for (const number of [1, 2]) {
    const part = bytes.subarray((number - 1) * (bytes.length / 2), number * (bytes.length / 2));
    parts.push(await engine.uploadPart(bucket, { key, id }, number, part, { customerKey }));
  }
  await engine.completeUpload(bucket, { key, id }, parts);
}

async function read(engine: Engine, key: string, range?: { offset: number; length: number }) {
  const found = await engine.get(bucket, key, { customerKey, range });
  return found.outcome === "found" ? collect(found.bytes.chunks()) : undefined;
}

/** Asserts that reading the object fails, and that a range fails or returns the right bytes. */
async function assertRefused(engine: Engine, key: string, what: string): Promise<void> {
  const expected = bodies[key]!;
  const isStoreError = (error: unknown) => error instanceof StoreError;
  await assert.rejects(read(engine, key), isStoreError, `${what}: all of "${key}"`);
  for (let offset = 0; offset < expected.length; offset += 37) {
    const length = Math.min(50, expected.length - offset);
    const bytes = await read(engine, key, { offset, length }).catch((error: unknown) => {
      assert.ok(isStoreError(error), `${what}: ${String(error)}`);
      return undefined;
    });
    if (bytes !== undefined) {
      assert.ok(bytes.equals(expected.subarray(offset, offset + length)), `${what}: wrong bytes of "${key}"`);
    }
  }
}

test("neither an encrypted body nor its key is on the disk, even before the logs are checkpointed", async (t) => {
  const { directory, engine, close } = await scene(t);
  const pending = await engine.createUpload(bucket, "pending", { customerKey });
  const part = text("pending", 700);
  await engine.uploadPart(bucket, pending, 1, part, { customerKey });
  await engine.put(bucket, "replaced", text("replaced", 200), { customerKey });
  await engine.put(bucket, "replaced", text("another", 900), { customerKey });
  const open = text("an open body, to see that the search finds what is there", 64);
  await engine.put(bucket, "open", open);
  const secrets = [...Object.values(bodies), part, text("replaced", 200), text("another", 900)].flatMap(
    (bytes) =>
      Array.from({ length: Math.floor(bytes.length / 64) }, (_, i) => bytes.subarray(i * 64, i * 64 + 16)),
  );
  for (const when of ["open", "closed"]) {
    assert.deepEqual(filesWith(directory, [...secrets, ...writtenForms(customerKey)]), [], when);
    assert.notDeepEqual(filesWith(directory, [open]), [], "the search itself works");
    await close();
  }
});

for (const key of ["inline", "file", "parts"]) {
  test(`reading an encrypted body that was changed anywhere or truncated fails (storage: ${key})`, async (t) => {
    const { engine, found, sealedBytes, forge, forgeBytes, copied } = await scene(t);
    const { record, body } = await found(key);
    const whole = await sealedBytes(body);
    const bytes = body.storage === "parts" ? whole.subarray(0, body.parts[0]!.blob.size) : whole;
    for (let at = 0; at < bytes.length; at += at < 40 || at > bytes.length - 40 ? 1 : 61) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1 << (at % 8);
      await forgeBytes(record, body, changed);
      await assertRefused(engine, key, `byte ${at} changed`);
    }
    for (const length of [0, salt, salt + sealedBlock, bytes.length - sealedBlock, bytes.length - 1]) {
      if (length < 0 || length >= bytes.length) continue;
      await forgeBytes(record, body, bytes.subarray(0, length));
      await assertRefused(engine, key, `cut to ${length}`);
    }
    await forge(record, await copied(body));
    assert.ok((await read(engine, key))?.equals(bodies[key]!), "unchanged");
  });
}

test("reading an encrypted body with moved, repeated or missing blocks fails", async (t) => {
  const { engine, found, sealedBytes, forgeBytes } = await scene(t);
  const { record, body } = await found("file");
  const bytes = await sealedBytes(body);
  const head = bytes.subarray(0, salt);
  const blocks = Array.from({ length: 5 }, (_, i) =>
    bytes.subarray(salt + i * sealedBlock, salt + (i + 1) * sealedBlock),
  );
  const orders = [
    [1, 0, 2, 3, 4],
    [0, 1, 3, 2, 4],
    [4, 1, 2, 3, 0],
    [0, 0, 2, 3, 4],
    [0, 2, 3, 4],
    [0, 1, 2, 3],
    [0, 1, 2, 3, 4, 4],
  ];
  for (const order of orders) {
    await forgeBytes(record, body, Buffer.concat([head, ...order.map((i) => blocks[i]!)]));
    await assertRefused(engine, "file", `blocks ${order}`);
  }
});

test("reading an encrypted object with the body, part, sealed key or record of another object fails", async (t) => {
  const { engine, found, forge, copied } = await scene(t);
  for (const key of ["inline", "file", "parts"]) {
    const mine = await found(key);
    const other = await found(`${key} too`);
    await forge(mine.record, await copied(other.body));
    await assertRefused(engine, key, "another's body");
    await forge({ ...other.record, key }, await copied(other.body));
    await assertRefused(engine, key, "the record and body of another object");
    await forge({ ...mine.record, encryption: other.record.encryption! }, await copied(mine.body));
    await assertRefused(engine, key, "the sealed key of another object");
    await forge(
      { ...mine.record, encryption: { ...mine.record.encryption!, scope: "0".repeat(32) } },
      await copied(mine.body),
    );
    await assertRefused(engine, key, "another scope");
    await forge(mine.record, await copied(mine.body));
  }
  const { record, body } = await found("parts");
  assert.equal(body.storage, "parts");
  if (body.storage !== "parts") return;
  const [first, second] = body.parts;
  const swapped = [
    { ...first!, blob: second!.blob },
    { ...second!, blob: first!.blob },
  ];
  await forge(record, { storage: "parts", parts: swapped });
  await assertRefused(engine, "parts", "parts swapped");
  await forge(record, { storage: "parts", parts: [first!, { ...first!, number: 2 }] });
  await assertRefused(engine, "parts", "the same part twice");
  const otherBody = (await found("parts too")).body;
  assert.equal(otherBody.storage, "parts");
  if (otherBody.storage !== "parts") return;
  await forge(record, { storage: "parts", parts: [first!, otherBody.parts[1]!] });
  await assertRefused(engine, "parts", "another's part");
});

test("reading an object fails if its encrypted body was replaced by the body of an older version", async (t) => {
  const { engine, found, sealedBytes, forgeBytes } = await scene(t);
  const older = await found("file");
  const bytes = await sealedBytes(older.body);
  await engine.put(bucket, "file", bodies.file!, { customerKey });
  const newer = await found("file");
  await forgeBytes(newer.record, newer.body, bytes);
  await assertRefused(engine, "file", "the previous version");
});

test("an encrypted object cannot be read with another key or without a key", async (t) => {
  const { engine } = await scene(t);
  for (const key of Object.keys(bodies)) {
    const other = Buffer.from(customerKey);
    other[31]! ^= 1;
    await assert.rejects(engine.get(bucket, key, { customerKey: other }), { reason: "AccessDenied" });
    await assert.rejects(engine.get(bucket, key), { reason: "InvalidArgument" });
  }
});
