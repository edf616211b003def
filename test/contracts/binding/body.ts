// Tests "get" of binding.md: the body of a result and the methods that read it.
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { describe, test } from "node:test";
import type { StoreObjectBody } from "../../../src/index.ts";
import { mockTimeouts } from "../../support/mock-timeouts.ts";
import type { Implementation } from "../../support/stores.ts";
import { MiB, openBucket, patterned, rejection, textOf } from "./scene.ts";
import { ownStore, sweptStore } from "./shared-stores.ts";

const readers = ["arrayBuffer", "bytes", "text", "json", "blob"] as const;

export function bodyContract(implementation: Implementation): void {
  describe("the body of an object can be read once, with any method", () => {
    test("arrayBuffer, bytes, text, json, blob and the body stream all return the stored value", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const value = { greeting: "Grüße 😀", list: [1, 2, 3], filler: "-".repeat(10_000) };
      const text = JSON.stringify(value);
      await bucket.put("key", text);
      const get = async () => (await bucket.get("key"))!;
      const arrayBuffer = await (await get()).arrayBuffer();
      assert.ok(arrayBuffer instanceof ArrayBuffer);
      assert.equal(Buffer.from(arrayBuffer).toString(), text);
      const bytes = await (await get()).bytes();
      assert.ok(bytes instanceof Uint8Array);
      assert.equal(Buffer.from(bytes).toString(), text);
      assert.equal(await (await get()).text(), text);
      assert.deepEqual(await (await get()).json(), value);
      const blob = await (await get()).blob();
      assert.ok(blob instanceof Blob);
      assert.equal(await blob.text(), text);
      const { body } = await get();
      assert.ok(body instanceof ReadableStream);
      assert.equal(await new Response(body).text(), text);
    });

    test("the chunks of the body stream are Uint8Arrays", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      for (const size of [5, 10_000]) {
        await bucket.put("key", patterned(size));
        const chunks: Uint8Array[] = [];
        for await (const chunk of (await bucket.get("key"))!.body) {
          assert.ok(chunk instanceof Uint8Array);
          chunks.push(chunk);
        }
        assert.deepEqual(Buffer.concat(chunks), Buffer.from(patterned(size)));
      }
    });

    test("changing a chunk of the body stream affects neither the stored object nor other readers", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      for (const size of [1, 10, 4095, 4096, 4097, 8192, 65_536, 100_000, 262_144, MiB]) {
        await bucket.put("key", patterned(size));
        // Node allocates small buffers from a shared pool; a returned body must not expose that
        // pool.
        const neighbour = Buffer.from("a small buffer");
        for (let i = 0; i < 3; i++) {
          const chunks: Uint8Array[] = [];
          for await (const chunk of (await bucket.get("key"))!.body) chunks.push(chunk);
          assert.ok(Buffer.concat(chunks).equals(patterned(size)), `${size} bytes, read for time ${i + 1}`);
          for (const chunk of chunks) {
            chunk.fill(0);
            structuredClone(chunk.buffer, { transfer: [chunk.buffer as ArrayBuffer] });
          }
        }
        assert.equal(neighbour.toString(), "a small buffer");
        assert.equal(Buffer.from("still there").toString(), "still there");
      }
    });

    test("the body of an empty object is an empty stream", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("empty", null);
      const get = async () => (await bucket.get("empty"))!;
      assert.equal((await (await get()).arrayBuffer()).byteLength, 0);
      assert.equal((await (await get()).bytes()).byteLength, 0);
      assert.equal(await (await get()).text(), "");
      assert.equal((await (await get()).blob()).size, 0);
      assert.equal((await (await get()).body.getReader().read()).done, true);
      await assert.rejects(async () => (await get()).json(), SyntaxError);
    });

    test("the type of blob() is the object's contentType, or empty if the object has none", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("typed", "value", { httpMetadata: { contentType: "text/plain" } });
      await bucket.put("untyped", "value");
      assert.equal((await (await bucket.get("typed"))!.blob()).type, "text/plain");
      assert.equal((await (await bucket.get("untyped"))!.blob()).type, "");
    });

    test("bodyUsed is true once the value was consumed", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", '"value"');
      for (const method of readers) {
        const object = (await bucket.get("key"))!;
        assert.equal(object.bodyUsed, false);
        await object[method]();
        assert.equal(object.bodyUsed, true, method);
      }
      const streamed = (await bucket.get("key"))!;
      await new Response(streamed.body).text();
      assert.equal(streamed.bodyUsed, true);
    });

    test("reading a body twice fails with a TypeError, for every pair of reading methods", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", '"value"');
      await bucket.put("large", JSON.stringify("v".repeat(10_000)));
      for (const key of ["key", "large"]) {
        for (const first of readers) {
          for (const second of readers) {
            const object = (await bucket.get(key))!;
            await object[first]();
            assert.ok((await rejection(() => object[second]())) instanceof TypeError, `${first}, ${second}`);
          }
        }
      }
    });

    test("reading a body fails with a TypeError while another read of it is in flight", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", "v".repeat(10_000));
      const object = (await bucket.get("key"))!;
      const first = object.text();
      assert.ok((await rejection(() => object.text())) instanceof TypeError);
      assert.equal((await first).length, 10_000);
    });

    test("reading a body after its stream was read or locked fails with a TypeError", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", "value");
      const consumed = (await bucket.get("key"))!;
      for await (const _ of consumed.body);
      assert.ok((await rejection(() => consumed.text())) instanceof TypeError);
      const locked = (await bucket.get("key"))!;
      const reader = locked.body.getReader();
      assert.ok((await rejection(() => locked.text())) instanceof TypeError);
      assert.equal(Buffer.from((await reader.read()).value!).toString(), "value");
    });

    test("a result without a body has no `body` property", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const put = await bucket.put("key", "value");
      const refused = await bucket.get("key", { onlyIf: { etagMatches: "other" } });
      const [listed] = (await bucket.list()).objects;
      for (const object of [put, refused, await bucket.head("key"), listed]) {
        assert.ok(object);
        assert.equal("body" in object, false);
        assert.equal((object as Partial<StoreObjectBody>).body, undefined);
      }
      assert.equal("body" in ((await bucket.get("key")) ?? {}), true);
    });

    test("a body can be cancelled before or during reading, and the object can be read again", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      await bucket.put("key", patterned(MiB));
      const unread = (await bucket.get("key"))!;
      await unread.body.cancel();
      const begun = (await bucket.get("key"))!;
      const reader = begun.body.getReader();
      await reader.read();
      await reader.cancel();
      assert.equal((await (await bucket.get("key"))!.bytes()).length, MiB);
    });
  });

  describe("a body that is never read does not block other operations", () => {
    test("an unread body does not block writes or deletes", async (t) => {
      const { store, name, bucket } = await openBucket(t, implementation, sweptStore);
      const bodies: unknown[] = [];
      for (const [key, size] of [
        ["small", 10],
        ["large", MiB],
      ] as const) {
        await bucket.put(key, patterned(size));
        for (let i = 0; i < 20; i++) bodies.push(await bucket.get(key));
        await bucket.put(key, "new");
        assert.equal(await textOf(bucket, key), "new");
        assert.equal((await bucket.list({ prefix: key })).objects[0]?.size, 3);
        await bucket.delete(key);
        assert.equal(await bucket.head(key), null);
      }
      await store.sweep();
      await store.deleteBucket(name);
      assert.equal(bodies.length, 40);
    });

    test("the file of an unread body is closed after a timeout, and the body can still be read", async (t) => {
      const { bucket } = await openBucket(t, implementation, ownStore());
      const bytes = patterned(MiB);
      await bucket.put("key", bytes);
      await (await bucket.get("key"))?.bytes();
      const timeouts = mockTimeouts(t);
      // Mocked timers must advance: a retried request to the cluster waits for a timer.
      const clock = setInterval(() => timeouts.tick(50), 50);
      t.after(() => clearInterval(clock));
      const before = await openDescriptors();
      const unread: (StoreObjectBody | null)[] = [];
      for (let i = 0; i < 50; i++) unread.push(await bucket.get("key"));
      timeouts.tick(3600_000);
      let after = await openDescriptors();
      // Files are closed in the background; each request gives the process time to close them.
      for (let turn = 0; turn < 1000 && after > before + 5; turn++) {
        await bucket.head("key");
        after = await openDescriptors();
      }
      assert.ok(after <= before + 5, `${after - before} files are still open`);
      for (const object of unread.slice(0, 3)) {
        assert.ok(Buffer.from(await object!.arrayBuffer()).equals(bytes));
      }
    });
  });
}

/** Returns the number of open file descriptors of this process. */
async function openDescriptors(): Promise<number> {
  return (await readdir("/dev/fd")).length;
}
