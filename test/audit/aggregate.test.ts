// Combined audit entries: the first of a group is recorded at once, later ones as a count.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createAuditAggregator } from "../../src/audit/aggregate.ts";
import type { AuditEntry } from "../../src/audit/audit-log.ts";
import { mockTimeouts } from "../support/mock-timeouts.ts";

function scene() {
  const recorded: Omit<AuditEntry, "time">[] = [];
  const aggregator = createAuditAggregator({ record: async (entry) => void recorded.push(entry) });
  const deny = (name: string, detail = "AccessDenied") =>
    aggregator.add(`${name} ${detail}`, { act: "deny request", detail, by: { face: "s3", name } });
  const counts = () => recorded.map(({ by, detail, count }) => [by.name, detail, count]);
  return { recorded, aggregator, deny, counts };
}

test("repeated denials of a key and reason become one entry a second at most, and every denial is counted", (t) => {
  const timeouts = mockTimeouts(t);
  const { deny, counts, recorded } = scene();
  for (let i = 0; i < 1000; i++) deny("A");
  deny("A", "SignatureDoesNotMatch");
  deny("B");
  assert.deepEqual(counts(), [
    ["A", "AccessDenied", 1],
    ["A", "SignatureDoesNotMatch", 1],
    ["B", "AccessDenied", 1],
  ]);
  timeouts.tick(1000);
  assert.deepEqual(counts().at(-1), ["A", "AccessDenied", 999]);
  let denied = 1000;
  for (let second = 0; second < 3600; second++) {
    deny("A");
    denied++;
    timeouts.tick(1000);
  }
  const own = recorded.filter(({ by, detail }) => by.name === "A" && detail === "AccessDenied");
  assert.ok(own.length < 75, `an hour of denials makes ${own.length} entries`);
  timeouts.tick(60_000);
  const total = recorded.filter(({ by, detail }) => by.name === "A" && detail === "AccessDenied");
  assert.equal(
    total.reduce((sum, { count }) => sum + count!, 0),
    denied,
  );
});

test("denials with more names than can be remembered are counted together", (t) => {
  const timeouts = mockTimeouts(t);
  const { deny, recorded } = scene();
  for (let i = 0; i < 10_000; i++) deny(`key ${i}`);
  assert.ok(recorded.length <= 65, String(recorded.length));
  timeouts.tick(1000);
  assert.ok(recorded.length <= 66);
  assert.equal(
    recorded.reduce((sum, { count }) => sum + count!, 0),
    10_000,
  );
});

test("a flush records what was counted", async () => {
  const { deny, counts, aggregator } = scene();
  for (let i = 0; i < 3; i++) deny("A");
  await aggregator.flush();
  assert.deepEqual(counts(), [
    ["A", "AccessDenied", 1],
    ["A", "AccessDenied", 2],
  ]);
});

test("new groups are limited over a minute, not only at one time", (t) => {
  const timeouts = mockTimeouts(t);
  const { deny, recorded } = scene();
  for (let second = 0; second < 59; second++) {
    for (let i = 0; i < 100; i++) deny(`key ${second} ${i}`);
    timeouts.tick(1000);
  }
  assert.ok(recorded.length < 80, `${recorded.length} entries of 5,900 keys`);
});
