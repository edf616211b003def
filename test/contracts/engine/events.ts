// Engine contract: each write appends the events that its rules request, and a failed write none.
import assert from "node:assert/strict";
import type { NotificationRule, ObjectEvent } from "../../../src/model/settings/notification.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { bucket, type Chapter, day, emptied, uploadParts } from "./setup.ts";

const rule = (id: string, fields: Partial<NotificationRule> = {}): NotificationRule => ({
  id,
  events: ["s3:ObjectCreated:*", "s3:ObjectRemoved:*", "s3:LifecycleExpiration:*"],
  prefix: "",
  suffix: "",
  target: { kind: "script", name: "script" },
  ...fields,
});

export const events: Chapter = async (t, shared) => {
  const { engine, time } = await emptied(shared);
  const readEvents = async (id = "all") => {
    const waiting = await engine.waitingEvents(bucket, id, { events: 1000, bytes: 2 ** 20 });
    await engine.ackEvents(
      bucket,
      id,
      waiting.map(({ entry }) => entry),
    );
    return waiting.map(({ event }) => event!);
  };

  await t.test("without notification rules no event is appended", async () => {
    await engine.put(bucket, "before", sampleBytes(10));
    await engine.delete(bucket, ["before"]);
    assert.deepEqual(await engine.countEvents(bucket), []);
  });

  await t.test(
    "every put, also an overwrite, appends an event that describes the stored object",
    async () => {
      await engine.changeSettings(bucket, { notifications: [rule("all")] });
      const records = [];
      for (const size of [10, 100_000]) {
        const stored = await engine.put(bucket, "a", sampleBytes(size));
        assert.ok(stored.outcome === "stored");
        records.push(stored.record);
      }
      const appended = await readEvents();
      assert.deepEqual(
        appended.map(({ name, key, created }) => ({ name, key, created })),
        records.map(({ size, etag, version }) => ({
          name: "s3:ObjectCreated:Put",
          key: "a",
          created: { size, etag, version },
        })),
      );
      assert.equal(new Set(appended.map(({ id }) => id)).size, 2);
      assert.ok(appended.every((event) => event.time === time.now()));
    },
  );

  await t.test(
    "a copy appends an ObjectCreated:Copy event, and a form upload an ObjectCreated:Post event",
    async () => {
      for (const event of ["s3:ObjectCreated:Copy", "s3:ObjectCreated:Post"] as const) {
        await engine.put(bucket, "a", sampleBytes(10), { event });
        assert.deepEqual(names(await readEvents()), [event]);
      }
    },
  );

  await t.test("a multipart upload appends exactly one event, when it is completed", async () => {
    const upload = await engine.createUpload(bucket, "film");
    const parts = await uploadParts(engine, upload, { 1: sampleBytes(9000), 2: sampleBytes(100) });
    assert.deepEqual(await readEvents(), []);
    const record = await engine.completeUpload(bucket, upload, parts);
    const [event, ...more] = await readEvents();
    assert.deepEqual(more, []);
    assert.equal(event?.name, "s3:ObjectCreated:CompleteMultipartUpload");
    assert.deepEqual([event.created?.size, event.created?.etag], [9100, record.etag]);
  });

  await t.test("a delete appends an event for each existing key and none for missing keys", async () => {
    for (const key of ["x", "y"]) await engine.put(bucket, key, sampleBytes(5));
    await readEvents();
    await engine.delete(bucket, ["x", "never", "y", "x"]);
    await engine.delete(bucket, ["x"]);
    const appended = await readEvents();
    assert.deepEqual(names(appended), ["s3:ObjectRemoved:Delete", "s3:ObjectRemoved:Delete"]);
    assert.deepEqual(appended.map(({ key }) => key).sort(), ["x", "y"]);
    assert.ok(appended.every(({ created }) => created === undefined));
  });

  await t.test("a refused write appends no event", async () => {
    await engine.put(bucket, "a", sampleBytes(5), { condition: { etagDoesNotMatch: "*" } });
    await assert.rejects(
      engine.put(bucket, "a", sampleBytes(5), {
        checksums: [{ algorithm: "md5", value: new Uint8Array(16) }],
      }),
    );
    assert.deepEqual(names(await readEvents()), []);
  });

  await t.test(
    "each notification rule gets only events that match its event names, prefix and suffix",
    async () => {
      await engine.changeSettings(bucket, {
        notifications: [
          rule("created", { events: ["s3:ObjectCreated:Put"] }),
          rule("removed", { events: ["s3:ObjectRemoved:*"], prefix: "photos/" }),
          rule("pictures", { prefix: "photos/", suffix: ".jpg" }),
          rule("nothing", { events: [] }),
        ],
      });
      for (const key of ["photos/ä.jpg", "photos/a.txt", "films/a.jpg"]) {
        await engine.put(bucket, key, sampleBytes(5));
        await engine.delete(bucket, [key]);
      }
      const keys = async (id: string) => (await readEvents(id)).map(({ key }) => key);
      assert.deepEqual(await keys("created"), ["photos/ä.jpg", "photos/a.txt", "films/a.jpg"]);
      assert.deepEqual(await keys("removed"), ["photos/ä.jpg", "photos/a.txt"]);
      assert.deepEqual(await keys("pictures"), ["photos/ä.jpg", "photos/ä.jpg"]);
      assert.deepEqual(await engine.countEvents(bucket), []);
    },
  );

  await t.test("a notification rule added while a body is received gets the event of that put", async () => {
    await engine.changeSettings(bucket, { notifications: undefined });
    async function* chunks() {
      yield sampleBytes(5);
      await engine.changeSettings(bucket, { notifications: [rule("all")] });
      yield sampleBytes(5);
    }
    await engine.put(bucket, "slow", { chunks, cancel: async () => {} });
    assert.deepEqual(names(await readEvents()), ["s3:ObjectCreated:Put"]);
  });

  await t.test("the expiration of an object appends an expiration event", async () => {
    await engine.put(bucket, "old/a", sampleBytes(5));
    await readEvents();
    const lifecycle = [{ id: "r", isEnabled: true, prefix: "old/", expire: { days: 1 } }];
    await engine.changeSettings(bucket, { lifecycle });
    time.time += 3 * day;
    await engine.sweep();
    const appended = await readEvents();
    assert.deepEqual(
      appended.map(({ name, key }) => [name, key]),
      [["s3:LifecycleExpiration:Delete", "old/a"]],
    );
    await engine.changeSettings(bucket, { lifecycle: undefined, notifications: undefined });
  });
};

function names(events: readonly ObjectEvent[]): string[] {
  return events.map(({ name }) => name);
}
