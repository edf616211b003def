// Two Store processes on one cluster, each through its own radosgw, see each other's changes.
import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { openStore } from "../../../src/index.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { newPlace } from "../cluster-pair.ts";
import type { Order } from "../peer-process.ts";

const program = fileURLToPath(new URL("../peer-process.js", import.meta.url));
const name = "shared";
const MiB = 1024 * 1024;

async function ask(peer: ChildProcess, order: Order): Promise<unknown> {
  const answered = once(peer, "message");
  peer.send(order);
  const [{ answer, error }] = (await answered) as [{ answer?: unknown; error?: string }];
  assert.equal(error, undefined);
  return answer;
}

test("writes of one process are visible to another process on the same cluster", async (t) => {
  const place = await newPlace();
  const store = await openStore({ ...place.through(0), reads: "strict" });
  t.after(() => store.close());
  const peer = fork(program, [JSON.stringify({ place: place.through(1), name })]);
  t.after(() => peer.kill("SIGKILL"));
  assert.deepEqual(await once(peer, "message"), ["ready", undefined]);
  const bucket = store.bucket(name);

  await t.test("a bucket created by one process is listed by the other", async () => {
    assert.equal(await ask(peer, { do: "createBucket" }), name);
    assert.deepEqual(
      (await store.listBuckets()).map((one) => one.name),
      [name],
    );
    await assert.rejects(store.createBucket(name), { reason: "BucketConflict" });
  });

  for (const [what, text] of Object.entries({
    "small objects": "small",
    "large objects": "x".repeat(3 * MiB),
  })) {
    await t.test(`${what} are read, replaced and deleted by either process`, async () => {
      await bucket.put(what, text);
      assert.equal(await ask(peer, { do: "get", key: what }), text);
      assert.equal(await ask(peer, { do: "put", key: what, text: `${text} and more` }), true);
      assert.equal(await (await bucket.get(what))!.text(), `${text} and more`);
      assert.deepEqual(
        await ask(peer, { do: "list" }),
        (await bucket.list()).objects.map(({ key }) => key),
      );
      await ask(peer, { do: "delete", key: what });
      assert.equal(await bucket.get(what), null);
    });
  }

  await t.test("of two processes that create the same key concurrently, one succeeds", async () => {
    for (let i = 0; i < 20; i++) {
      const key = `contended ${i}`;
      const [mine, theirs] = await Promise.all([
        bucket.put(key, "mine", { onlyIf: { etagDoesNotMatch: "*" } }),
        ask(peer, { do: "put", key, text: "theirs", isNew: true }),
      ]);
      assert.notEqual(mine !== null, theirs, "one and only one");
      assert.equal(await (await bucket.get(key))!.text(), mine === null ? "theirs" : "mine");
      await bucket.delete(key);
    }
  });

  await t.test("a multipart upload started by one process is completed by the other", async () => {
    const upload = await bucket.createMultipartUpload("parts");
    const bodies = [sampleBytes(5 * MiB), sampleBytes(100)];
    const parts = await Promise.all(bodies.map((body, i) => upload.uploadPart(i + 1, body)));
    const { uploadId } = upload;
    const etags = parts.map(({ etag }) => etag);
    assert.equal(await ask(peer, { do: "complete", key: "parts", uploadId, etags }), 5 * MiB + 100);
    assert.deepEqual(Buffer.from(await (await bucket.get("parts"))!.bytes()), Buffer.concat(bodies));
  });

  await t.test("a bucket deleted by one process is missing for the other", async () => {
    await bucket.delete("parts");
    await ask(peer, { do: "deleteBucket" });
    await assert.rejects(bucket.put("key", "text"), { reason: "NoSuchBucket" });
  });
});
