// Tests "get" of binding.md: a body is not affected by later puts and deletes.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { StoreBucket } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import { MiB, openBucket, patterned, secret } from "./scene.ts";
import { sweptStore } from "./shared-stores.ts";

interface Kind {
  readonly name: string;
  readonly size: number;
  readonly ssecKey?: string;
  readonly partSize?: number;
}

const kinds: readonly Kind[] = [
  { name: "of a few bytes", size: 10 },
  { name: "of 4 KiB", size: 4096 },
  { name: "of 1 MiB", size: MiB },
  { name: "of 1 MiB with an SSE-C key", size: MiB, ssecKey: secret },
  { name: "of three parts of 1 MiB and a smaller part", size: 3 * MiB + 1000, partSize: MiB },
  // The local adapter stores parts of this size in shared files, which are compacted.
  { name: "of four parts of 100 KiB", size: 400 * 1024, partSize: 100 * 1024 },
  { name: "of several parts with an SSE-C key", size: 2 * MiB + 1000, partSize: MiB, ssecKey: secret },
];

async function write(bucket: StoreBucket, kind: Kind, bytes: Uint8Array): Promise<void> {
  const { ssecKey, partSize } = kind;
  if (partSize === undefined) {
    await bucket.put("key", bytes, { ssecKey });
    return;
  }
  const upload = await bucket.createMultipartUpload("key", { ssecKey });
  const parts = [];
  for (let at = 0; at < bytes.length; at += partSize) {
    const part = bytes.subarray(at, at + partSize);
    parts.push(await upload.uploadPart(parts.length + 1, part, { ssecKey }));
  }
  await upload.complete(parts);
}

export function readersContract(implementation: Implementation): void {
  describe("a reader gets the version of the object that was current when the read started", () => {
    for (const kind of kinds) {
      test(`a read of an object ${kind.name} is not affected by concurrent overwrites, deletes and sweeps`, async (t) => {
        const { store, bucket } = await openBucket(t, implementation, sweptStore);
        const bytes = patterned(kind.size);
        await write(bucket, kind, bytes);
        const { ssecKey } = kind;
        const begun = (await bucket.get("key", { ssecKey }))!;
        const ranged = (await bucket.get("key", { ssecKey, range: { suffix: 9 } }))!;
        const reader = begun.body.getReader();
        const rangeReader = ranged.body.getReader();
        const first = await reader.read();
        const chunks = [first.value!];
        const rangeChunks = [(await rangeReader.read()).value!];

        await write(bucket, kind, patterned(kind.size, 2));
        await store.sweep();
        chunks.push((await reader.read()).value ?? new Uint8Array());
        const second = (await bucket.get("key", { ssecKey }))!;
        const secondReader = second.body.getReader();
        const secondChunks = [(await secondReader.read()).value!];
        await bucket.delete("key");
        await store.sweep();
        assert.equal(await bucket.get("key"), null);

        assert.ok(Buffer.concat([...chunks, ...(await rest(reader))]).equals(bytes));
        const range = Buffer.concat([...rangeChunks, ...(await rest(rangeReader))]);
        assert.ok(range.equals(bytes.subarray(-9)));
        const overwritten = Buffer.concat([...secondChunks, ...(await rest(secondReader))]);
        assert.ok(overwritten.equals(patterned(kind.size, 2)));
        await store.sweep();
        assert.equal(await bucket.head("key"), null);
      });
    }

    test("a body returned by get but not yet read is not affected by overwrites and deletes", async (t) => {
      const { store, bucket } = await openBucket(t, implementation, sweptStore);
      for (const kind of kinds) {
        const bytes = patterned(kind.size);
        await write(bucket, kind, bytes);
        const object = (await bucket.get("key", { ssecKey: kind.ssecKey }))!;
        await bucket.put("key", "new");
        await bucket.delete("key");
        await store.sweep();
        assert.ok(Buffer.from(await object.arrayBuffer()).equals(bytes), kind.name);
      }
    });

    test("while an object is overwritten repeatedly, every read returns one complete version", async (t) => {
      const { store, bucket } = await openBucket(t, implementation, sweptStore);
      const size = 256 * 1024;
      const versions = [1, 2, 3].map((fill) => Buffer.alloc(size, fill));
      await bucket.put("key", versions[0]!);
      let writing = true;
      const writer = (async () => {
        for (let i = 0; i < 30; i++) {
          await bucket.put("key", versions[i % versions.length]!);
          await store.sweep();
        }
        writing = false;
      })();
      let reads = 0;
      while (writing) {
        const object = (await bucket.get("key"))!;
        const bytes = Buffer.from(await object.arrayBuffer());
        assert.ok(versions.some((version) => version.equals(bytes)));
        reads++;
        await setImmediate();
      }
      await writer;
      assert.ok(reads > 0);
    });
  });
}

async function rest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return chunks;
    chunks.push(value);
  }
}
