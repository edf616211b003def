// Records contract: events are appended in the commit of their change, returned in order and
// acknowledged.
import assert from "node:assert/strict";
import type { EventLimits } from "../../../src/engine/outbox.ts";
import type { Mutation, Records } from "../../../src/engine/records.ts";
import { putObject } from "../../support/samples.ts";
import { apply, bucket, bucketRecord, type Chapter, conflicts, emptyBucket } from "./setup.ts";

export const outbox: Chapter = async (t, ports) => {
  await t.test(
    "the outbox returns the committed events of one rule, oldest first, until they are acknowledged",
    async () => {
      const { records } = await emptyBucket(ports);
      assert.deepEqual(await outboxTexts(records, "one"), []);
      await apply(records, putObject("a"), tell(["one"], "first"), tell(["two"], "first"));
      await apply(records, putObject("b"), tell(["one"], 'sec"ond\n🙂'));
      await apply(records, putObject("c"), tell(["one"], "third"));
      assert.deepEqual(await outboxTexts(records, "one"), ["first", 'sec"ond\n🙂', "third"]);
      assert.deepEqual(await outboxTexts(records, "two"), ["first"]);
      assert.deepEqual(await outboxTexts(records, "absent"), []);
      const [first, second] = await records.outboxEvents(bucket, "one", limits(2));
      assert.ok(second!.entry > first!.entry);
      assert.equal((await records.outboxEvents(bucket, "one", limits(2))).length, 2);
      await records.ackEvents(bucket, "one", [second!.entry]);
      assert.deepEqual(await outboxTexts(records, "one"), ["first", "third"]);
      await records.ackEvents(bucket, "one", [second!.entry, first!.entry]);
      await records.ackEvents(bucket, "one", []);
      assert.deepEqual(await outboxTexts(records, "one"), ["third"]);
      assert.deepEqual(await outboxTexts(records, "two"), ["first"]);
    },
  );

  await t.test(
    "an event is stored once for all its rules, until the last of them acknowledged it",
    async () => {
      const { records } = await emptyBucket(ports);
      await apply(records, tell(["one", "two", "three"], "shared"), tell(["two"], "own"));
      await apply(records, putObject("a"), tell(["two", "one"], "later"));
      const entries = async (rule: string) =>
        (await records.outboxEvents(bucket, rule, limits(9))).map(({ entry }) => entry);
      const [shared, own, later] = await entries("two");
      assert.deepEqual(await entries("one"), [shared, later]);
      assert.deepEqual(await entries("three"), [shared]);
      await records.ackEvents(bucket, "two", [shared!, own!]);
      await records.ackEvents(bucket, "two", [shared!]);
      await records.ackEvents(bucket, "three", [later!]);
      assert.deepEqual(await outboxTexts(records, "two"), ["later"]);
      assert.deepEqual(await outboxTexts(records, "one"), ["shared", "later"]);
      assert.deepEqual(await outboxTexts(records, "three"), ["shared"]);
      assert.deepEqual(await records.eventCounts(bucket), [
        { rule: "one", count: 2 },
        { rule: "three", count: 1 },
        { rule: "two", count: 1 },
      ]);
      await Promise.all(
        ["one", "two", "three"].map((rule) => records.ackEvents(bucket, rule, [shared!, later!])),
      );
      assert.deepEqual(await records.eventCounts(bucket), []);
    },
  );

  await t.test(
    "the oldest events are removed for all rules, and the bytes of the others are counted",
    async () => {
      const { records } = await emptyBucket(ports);
      assert.deepEqual(await records.eventUsage(bucket), { events: 0, bytes: 0 });
      assert.equal(await records.dropOldestEvents(bucket, 5), 0);
      await apply(records, tell(["one", "two"], "x".repeat(1000)), tell(["two"], "y"), tell(["one"], "z"));
      const { events, bytes } = await records.eventUsage(bucket);
      assert.equal(events, 3);
      assert.ok(bytes >= 1002 && bytes < 1100, `${bytes} bytes`);
      assert.equal(await records.dropOldestEvents(bucket, 2), 2);
      assert.deepEqual(await outboxTexts(records, "two"), []);
      assert.deepEqual(await outboxTexts(records, "one"), ["z"]);
      assert.equal(await records.dropOldestEvents(bucket, 2), 1);
      assert.deepEqual(await records.eventUsage(bucket), { events: 0, bytes: 0 });
    },
  );

  await t.test("a read ends at its limit of bytes, and returns at least one event", async () => {
    const { records } = await emptyBucket(ports);
    const text = "x".repeat(1000);
    await apply(records, ...[1, 2, 3, 4].map((i) => tell(["one"], `${i}${text}`)));
    for (const [bytes, count] of [
      [1, 1],
      [1500, 2],
      [2 ** 20, 4],
    ] as const) {
      const events = await records.outboxEvents(bucket, "one", { events: 100, bytes });
      assert.deepEqual(
        events.map((event) => event.text![0]),
        ["1", "2", "3", "4"].slice(0, count),
      );
    }
  });

  await t.test(
    "of very many different lists of rules, the oldest events of the bucket are read",
    async () => {
      const { records } = await emptyBucket(ports);
      const lists = Array.from({ length: 600 }, (_, i) => [`r${i}`, ...(i % 200 === 0 ? ["one"] : [])]);
      await apply(records, ...lists.map((rules, i) => tell(rules, String(i))));
      assert.deepEqual(await outboxTexts(records, "one"), ["0", "200", "400"]);
      assert.deepEqual(await outboxTexts(records, "r599"), ["599"]);
      const first = await records.outboxEvents(bucket, "one", limits(2));
      await records.ackEvents(
        bucket,
        "one",
        first.map(({ entry }) => entry),
      );
      assert.deepEqual(await outboxTexts(records, "one"), ["400"]);
      assert.deepEqual(await outboxTexts(records, "r200"), ["200"]);
    },
  );

  await t.test("a change that is not committed appends no event", async () => {
    const { records } = await emptyBucket(ports);
    await conflicts(records, {
      checks: [{ kind: "object", key: "a", version: "never" }],
      mutations: [putObject("a"), tell(["one"], "never")],
    });
    assert.deepEqual(await outboxTexts(records, "one"), []);
  });

  await t.test("an event of a deletion is appended only if the deleted object existed", async () => {
    const { records } = await emptyBucket(ports);
    await apply(records, putObject("a"));
    await apply(records, ...deleting("a"), ...deleting("b"), ...deleting("a"));
    assert.deepEqual(await outboxTexts(records, "one"), ["a is gone"]);
    await Promise.all(Array.from({ length: 8 }, () => records.commit(bucket, { mutations: deleting("a") })));
    assert.deepEqual(await outboxTexts(records, "one"), ["a is gone"]);
    await apply(records, putObject("a"));
    await Promise.all(Array.from({ length: 8 }, () => records.commit(bucket, { mutations: deleting("a") })));
    assert.deepEqual(await outboxTexts(records, "one"), ["a is gone", "a is gone"]);
  });

  await t.test(
    "the numbers of outbox entries increase, even after earlier entries were acknowledged",
    async () => {
      const { records } = await emptyBucket(ports);
      let last = 0;
      for (let round = 0; round < 3; round++) {
        await apply(records, putObject("a"), tell(["one"], "x"));
        const [event] = await records.outboxEvents(bucket, "one", limits(1));
        assert.ok(event!.entry > last);
        last = event!.entry;
        await records.ackEvents(bucket, "one", [last]);
      }
    },
  );

  await t.test("events of one key are in the order of its versions, even with several writers", async () => {
    const { records } = await emptyBucket(ports);
    const versions = Array.from({ length: 24 }, (_, i) => `${i}`.padStart(32, "0"));
    await Promise.all(
      versions.map((version) =>
        records.commit(bucket, {
          mutations: [putObject("a", undefined, version), tell(["one"], version)],
        }),
      ),
    );
    const all = await outboxTexts(records, "one");
    assert.deepEqual([...all].sort(), versions);
    assert.equal(all.at(-1), (await records.object(bucket, "a"))?.version);
  });

  await t.test("the events of a bucket are counted by rule, and deleted with the bucket", async () => {
    const { records } = await emptyBucket(ports);
    assert.deepEqual(await records.eventCounts(bucket), []);
    await apply(records, tell(["one"], "x"), tell(["two"], "y"), tell(["one"], "z"));
    const counts = await records.eventCounts(bucket);
    assert.deepEqual(
      [...counts].sort((a, b) => b.count - a.count),
      [
        { rule: "one", count: 2 },
        { rule: "two", count: 1 },
      ],
    );
    assert.equal(await records.deleteBucket(bucket), "deleted");
    await assert.rejects(records.outboxEvents(bucket, "one", limits(1)), { reason: "NoSuchBucket" });
    await assert.rejects(records.ackEvents(bucket, "one", [1]), { reason: "NoSuchBucket" });
    await assert.rejects(records.eventCounts(bucket), { reason: "NoSuchBucket" });
    await assert.rejects(records.eventUsage(bucket), { reason: "NoSuchBucket" });
    await assert.rejects(records.dropOldestEvents(bucket, 1), { reason: "NoSuchBucket" });
    await records.createBucket(bucketRecord(bucket));
    assert.deepEqual(await outboxTexts(records, "one"), []);
  });
};

function tell(rules: readonly string[], event: string): Mutation {
  return { kind: "append event", rules, event };
}

function deleting(key: string): Mutation[] {
  return [
    { kind: "append event", rules: ["one"], event: `${key} is gone`, ifExists: key },
    { kind: "delete object", key },
  ];
}

function limits(events: number): EventLimits {
  return { events, bytes: 2 ** 20 };
}

async function outboxTexts(records: Records, rule: string): Promise<(string | undefined)[]> {
  return (await records.outboxEvents(bucket, rule, limits(1000))).map(({ text }) => text);
}
