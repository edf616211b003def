// Delivery of events to webhooks: signatures, order, retries, leases and independent queues.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Engine } from "../../src/engine/engine.ts";
import type { Documents } from "../../src/engine/records.ts";
import { type DelivererOptions, startDeliverer } from "../../src/events/delivery.ts";
import { createLease } from "../../src/events/lease.ts";
import { UnboundScriptError } from "../../src/events/rule-check.ts";
import { createNotificationRules, type NewRule, type NotificationRules } from "../../src/events/rules.ts";
import { createWebhookClient } from "../../src/events/webhook-client.ts";
import { openEngine } from "../../src/open.ts";
import { until } from "../script/inside.ts";
import { sampleBytes } from "../support/bytes.ts";
import { isSigned, openReceiver, type Receiver } from "./receiver.ts";

const bucket = "photos";
const secretKey = () => new Uint8Array(32).fill(7);
const webhooks = createWebhookClient({ allow: ["127.0.0.1"] });
const scripts = [{ name: "app", buckets: [bucket] }];
const times = { poll: 5, rules: 5, retention: 5, firstPause: 5, maxPause: 20, retry: 5 };

interface Scene {
  readonly engine: Engine;
  readonly documents: Documents;
  readonly rules: NotificationRules;
  readonly log: string[];
  add(receiver: Receiver, rule?: Omit<NewRule, "target">): Promise<{ id: string; secret: string }>;
  deliver(options?: Partial<DelivererOptions>): ReturnType<typeof startDeliverer>;
  put(...keys: string[]): Promise<void>;
  waiting(id: string): Promise<number>;
}

async function openScene(t: TestContext): Promise<Scene> {
  const { engine, documents } = await openEngine("memory:");
  await engine.createBucket(bucket);
  const rules = createNotificationRules({ engine, documents, secretKey, listScripts: async () => scripts });
  const log: string[] = [];
  const deliverers: ReturnType<typeof startDeliverer>[] = [];
  t.after(async () => {
    await Promise.all(deliverers.map((deliverer) => deliverer.close()));
    await engine.close();
  });
  return {
    engine,
    documents,
    rules,
    log,
    async add(receiver, rule = {}) {
      const target = { kind: "webhook", url: receiver.url } as const;
      const added = await rules.add(bucket, { ...rule, target });
      return { id: added.rule.id, secret: added.secret! };
    },
    deliver(options = {}) {
      const deliverer = startDeliverer({
        ...{ engine, documents, secretKey, webhooks, times, log: (line: string) => log.push(line) },
        ...options,
      });
      deliverers.push(deliverer);
      return deliverer;
    },
    async put(...keys) {
      for (const key of keys) await engine.put(bucket, key, sampleBytes(5));
    },
    async waiting(id) {
      return (await rules.list(bucket)).find(({ rule }) => rule.id === id)!.waiting;
    },
  };
}

test("a webhook receives an S3 event message, signed with the secret that was returned for its rule", async (t) => {
  const { add, put, deliver, engine, waiting } = await openScene(t);
  const receiver = await openReceiver(t);
  const { id, secret } = await add(receiver);
  const before = Date.now();
  await put("a b+ü/1.jpg");
  const stored = (await engine.head(bucket, "a b+ü/1.jpg"))!;
  await engine.delete(bucket, ["a b+ü/1.jpg"]);
  deliver();
  const [created, removed] = await receiver.took(2);
  const { sequencer, ...object } = created!.s3.object;
  assert.deepEqual(object, {
    key: "a+b%2B%C3%BC%2F1.jpg",
    size: 5,
    eTag: stored.etag,
    versionId: stored.version,
  });
  assert.equal(created!.eventName, "ObjectCreated:Put");
  assert.equal(created!.s3.bucket.name, bucket);
  assert.equal(created!.s3.configurationId, id);
  assert.ok(Date.parse(created!.eventTime) >= before);
  assert.equal(removed!.eventName, "ObjectRemoved:Delete");
  assert.ok(removed!.s3.object.sequencer > sequencer);
  assert.notEqual(removed!.eventId, created!.eventId);
  for (const one of receiver.received) {
    assert.ok(isSigned(one, secret));
    assert.ok(!isSigned(one, "another"));
    assert.ok(!isSigned({ ...one, body: `${one.body} ` }, secret));
  }
  await until(async () => (await waiting(id)) === 0, "the event is acknowledged");
});

test("events that a webhook refuses are retried in order until accepted, and redirects are not followed", async (t) => {
  const { add, put, deliver, log, rules } = await openScene(t);
  const receiver = await openReceiver(t);
  await add(receiver);
  const refusals = [500, 302, 404, 503];
  receiver.answer = () => refusals.shift() ?? 200;
  const keys = Array.from({ length: 30 }, (_, i) => `k${i}`);
  await put(...keys);
  deliver();
  const events = await receiver.took(30);
  assert.deepEqual(
    events.map(({ s3 }) => s3.object.key),
    keys,
  );
  assert.ok(receiver.received.length > 4);
  const failures = log.filter((line) => /will be retried/.test(line));
  assert.equal(failures.length, 1, "only the first failure is logged");
  assert.match(failures[0]!, /bucket "photos", rule .*: the webhook responded with status 500\.$/);
  assert.ok(!log.join().includes("of=test"), "path and query of the URL may be secret");
  await until(() => log.some((line) => /works again/.test(line)), "the recovery is logged");
  await until(async () => {
    const [{ progress } = {} as never] = await rules.list(bucket);
    return progress.delivered === 30 && progress.lastFailure !== undefined;
  }, "the progress is stored");
});

test("a webhook that does not respond does not delay the events of another rule", async (t) => {
  const { add, put, deliver, waiting } = await openScene(t);
  const [dead, alive] = [await openReceiver(t), await openReceiver(t)];
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  dead.answer = async () => {
    await held;
    return 200;
  };
  const { id } = await add(dead);
  await add(alive);
  await put("a");
  deliver();
  await until(() => dead.received.length > 0, "the slow webhook has received a request");
  await put("b", "c");
  await alive.took(3);
  assert.equal(await waiting(id), 3, "events are acknowledged only after they arrive");
  release();
  await dead.took(3);
});

test("events that are refused and older than the retention time are dropped, counted and logged", async (t) => {
  const { add, put, deliver, log, rules, waiting } = await openScene(t);
  const receiver = await openReceiver(t);
  const { id } = await add(receiver, { keep: 60_000 });
  await put("a", "b");
  receiver.answer = () => 500;
  const late = deliver({ now: () => Date.now() + 61_000 });
  await until(async () => (await waiting(id)) === 0, "the events are dropped");
  await late.close();
  assert.match(log.join("\n"), /Dropped 2 events that waited longer/);
  assert.equal((await rules.list(bucket))[0]!.progress.dropped, 2);
});

test("a stored rule with a private address is not delivered, and its state says how to permit it", async (t) => {
  const { add, put, deliver, log, rules, waiting } = await openScene(t);
  const receiver = await openReceiver(t);
  const { id } = await add(receiver);
  await put("a");
  const strict = deliver({ webhooks: createWebhookClient({ allow: [] }) });
  await until(() => log.length > 0, "the failure is logged");
  await strict.close();
  const [{ progress } = {} as never] = await rules.list(bucket);
  assert.match(progress.lastFailure!.what, /127\.0\.0\.1 is not public.*--webhook-allow 127\.0\.0\.1$/);
  assert.equal(receiver.received.length, 0);
  assert.equal(await waiting(id), 1);
  deliver();
  await receiver.took(1);
});

test("only one of several deliverers sends events, and another takes over after the first closes", async (t) => {
  const { add, put, deliver, documents } = await openScene(t);
  const receiver = await openReceiver(t);
  await add(receiver);
  await put("a");
  const first = deliver();
  await receiver.took(1);
  deliver();
  const lease = (await documents.get("delivery lease", "webhooks"))!.text;
  await put("b");
  await receiver.took(2);
  await first.close();
  await put("c");
  await receiver.took(3);
  assert.notEqual((await documents.get("delivery lease", "webhooks"))?.text, lease);
});

test("a delivery lease becomes free when its holder releases it or does not renew it in time", async (t) => {
  const { documents } = await openScene(t);
  const times = { renew: 5, stale: 50 };
  const first = createLease(documents, "x", { ...times, stale: 1_000_000 });
  assert.ok(await first.acquire());
  const second = createLease(documents, "x", { renew: 5, stale: 1_000_000 });
  assert.ok(!(await second.acquire()));
  await first.release();
  assert.ok(await second.acquire());
  await second.release();
  const holder = { id: "other", host: "elsewhere", pid: 1 };
  await documents.put("delivery lease", "x", JSON.stringify(holder), undefined);
  const third = createLease(documents, "x", times);
  assert.ok(!(await third.acquire()));
  await until(() => third.acquire(), "a lease that is not renewed becomes free");
  await third.release();
});

test("invalid notification rules are refused with a message, and removing a rule deletes its events", async (t) => {
  const { rules, put, add, engine } = await openScene(t);
  const webhook = (url: string) => ({ target: { kind: "webhook", url } }) as const;
  const refusals: [NewRule, RegExp][] = [
    [webhook("ftp://example.com/"), /is not a webhook URL: use https/],
    [webhook("nothing"), /is not a webhook URL: use https/],
    [webhook(`https://${"a.".repeat(130)}com/`), /is not a webhook URL: its host or path/],
    [webhook(`https://example.com/${"a".repeat(2029)}`), /has more than 2048 characters/],
    [webhook("https://user:secret@example.com/"), /must not contain a password/],
    [
      { ...webhook("https://example.com/"), events: ["changed"] },
      /Unknown event "changed"\. Use one of: create/,
    ],
    [{ ...webhook("https://example.com/"), id: "a b" }, /Rule name "a b" is not valid/],
  ];
  for (const [rule, message] of refusals) {
    await assert.rejects(rules.add(bucket, rule), { name: "NotificationError", message });
  }
  await assert.rejects(rules.add("absent", webhook("https://example.com/")), { reason: "NoSuchBucket" });
  const { rule } = await rules.add(bucket, {
    ...webhook("https://example.com/"),
    events: ["create", "ObjectRemoved:Delete", "s3:ObjectCreated:*"],
    id: "mine",
  });
  assert.deepEqual(rule.events, ["s3:ObjectCreated:*", "s3:ObjectRemoved:Delete"]);
  await assert.rejects(rules.add(bucket, { ...webhook("https://example.com/"), id: "mine" }), /already/);
  const stored = JSON.stringify((await engine.bucket(bucket))!.settings);
  assert.ok(!stored.includes("whsec_"), "the stored secret is sealed");
  const other = await add(await openReceiver(t));
  await put("a");
  assert.equal(await rules.remove(bucket, "mine"), true);
  assert.equal(await rules.remove(bucket, "mine"), false);
  assert.deepEqual(await engine.countEvents(bucket), [{ rule: other.id, count: 1 }]);
});

test("a rule may name only a script that is bound to its bucket; a rule that is kept is not checked again", async (t) => {
  const { rules, engine } = await openScene(t);
  await engine.createBucket("other");
  const target = (name: string) => ({ target: { kind: "script", name } as const });
  const unbound: readonly [string, string][] = [
    ["other", "app"],
    [bucket, "absent"],
  ];
  const messages: string[] = [];
  for (const [name, script] of unbound) {
    await assert.rejects(rules.add(name, target(script)), (error: Error) => {
      messages.push(error.message.replace(script, "S").replace(name, "B"));
      return error instanceof UnboundScriptError;
    });
    assert.deepEqual(await rules.list(name), []);
  }
  assert.equal(messages[0], messages[1], "the message does not tell which scripts exist");
  const { rule } = await rules.add(bucket, { id: "early", ...target("later"), isEarly: true });
  await rules.replace(bucket, (existing) => [{ ...existing[0]!, prefix: "in/" }]);
  const changed = { ...rule, target: { kind: "script", name: "absent" } as const };
  await assert.rejects(
    rules.replace(bucket, () => [changed]),
    UnboundScriptError,
  );
  const added = { ...rule, id: "second" };
  await assert.rejects(
    rules.replace(bucket, (existing) => [...existing, added]),
    UnboundScriptError,
  );
  assert.deepEqual(
    (await rules.list(bucket)).map((listed) => listed.rule),
    [{ ...rule, prefix: "in/" }],
  );
});

test("events for a script that no longer runs are dropped when their rule no longer keeps them", async (t) => {
  const { rules, put, deliver, log, waiting, engine } = await openScene(t);
  const target = { kind: "script", name: "app" } as const;
  const { rule } = await rules.add(bucket, { target, keep: 60_000 });
  await rules.add(bucket, { id: "forever", target });
  await put("a", "b");
  let now = Date.now();
  const dropped: [string, number][] = [];
  const onDropped = (reason: string, events: number) => dropped.push([reason, events]);
  deliver({ now: () => now, onDropped });
  await put("c");
  assert.equal(await waiting(rule.id), 3);
  now += 120_000;
  await until(async () => (await waiting(rule.id)) === 0, "old events are dropped");
  await until(async () => dropped.length === 1, "they are counted");
  assert.deepEqual(dropped, [["age", 3]]);
  assert.equal(await waiting("forever"), 3);
  assert.deepEqual(await engine.countEvents(bucket), [{ rule: "forever", count: 3 }]);
  await until(async () => (await rules.list(bucket))[0]!.progress.dropped === 3, "the rule counts them");
  assert.deepEqual(
    log.filter((line) => /Dropped/.test(line)),
    [`Dropped 3 events that waited longer than their rule keeps them (bucket "photos", rule "${rule.id}").`],
  );
});

for (const limits of [
  { events: 4, bytes: 2 ** 20 },
  { events: 1000, bytes: 700 },
]) {
  test(`beyond ${limits.events} events or ${limits.bytes} bytes, the oldest waiting events of a bucket are dropped and reported once`, async (t) => {
    const { rules, put, deliver, log, engine } = await openScene(t);
    await rules.add(bucket, { id: "r", target: { kind: "script", name: "app" } });
    let dropped = 0;
    deliver({ limits, onDropped: (reason, events) => (dropped += reason === "limit" ? events : NaN) });
    const keys = Array.from({ length: 20 }, (_, i) => `key ${String(i).padStart(2, "0")}`);
    const isWithin = async () => {
      const { events, bytes } = await engine.eventUsage(bucket);
      return events <= limits.events && bytes <= limits.bytes;
    };
    await put(...keys.slice(0, 10));
    await until(isWithin, "the limit holds");
    await put(...keys.slice(10));
    await until(isWithin, "the limit holds again");
    await until(async () => dropped + (await engine.eventUsage(bucket)).events === 20, "all are counted");
    const waiting = await engine.waitingEvents(bucket, "r", { events: 100, bytes: 2 ** 20 });
    assert.ok(waiting.length >= 2 && waiting.length < 10);
    assert.deepEqual(
      waiting.map(({ event }) => event!.key),
      keys.slice(-waiting.length),
    );
    const lines = log.filter((line) => /Dropped the oldest/.test(line));
    assert.equal(lines.length, 1, lines.join("\n"));
    assert.match(lines[0]!, /of bucket "photos": more than .* waited\. .*store bucket notify list photos$/);
  });
}
