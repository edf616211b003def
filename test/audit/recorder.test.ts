// Entries that the audit log does not accept at once wait in memory, bounded, and are written later.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditEntry } from "../../src/audit/audit-log.ts";
import { createAuditRecorder } from "../../src/audit/recorder.ts";

function scene() {
  const written: AuditEntry[] = [];
  const warnings: string[] = [];
  const state = { isBroken: true, time: 0 };
  const recorder = createAuditRecorder({
    log: {
      async record(entry) {
        if (state.isBroken) throw new Error("no space");
        written.push(entry);
      },
    },
    now: () => state.time,
    warn: (line) => warnings.push(line),
  });
  return { ...recorder, written, warnings, state };
}

test("an entry that cannot be written waits, and is written with its own time when the log can be", async () => {
  const { record, flush, written, warnings, state } = scene();
  await record({ act: "delete key", subject: "K", by: { face: "s3" } });
  await record({ act: "deny request", subject: "photos", by: { face: "s3" } });
  assert.deepEqual(warnings, ["The audit log cannot be written; its entries wait in memory: no space"]);
  state.isBroken = false;
  state.time = 60_000;
  await record({ act: "create key", subject: "L", by: { face: "console" } });
  await flush();
  assert.deepEqual(
    written.map(({ time, act, subject }) => [time, act, subject]),
    [
      ["1970-01-01T00:01:00.000Z", "create key", "L"],
      ["1970-01-01T00:00:00.000Z", "delete key", "K"],
      ["1970-01-01T00:00:00.000Z", "deny request", "photos"],
    ],
  );
  assert.match(warnings.at(-1)!, /can be written again/);
});

test("entries beyond the bound of memory are counted by their kind, and the counts are written", async () => {
  const { record, flush, written, state } = scene();
  for (let i = 0; i < 3000; i++) {
    state.time = i;
    await record({ act: "deny request", subject: `bucket-${i}`, count: 2, by: { face: "s3" } });
  }
  await record({ act: "create key", subject: "K", by: { face: "console" } });
  state.isBroken = false;
  await flush();
  assert.equal(written.length, 1002);
  const denials = written.filter(({ act }) => act === "deny request");
  assert.equal(
    denials.reduce((sum, { count }) => sum + count!, 0),
    6000,
  );
  const { time, detail, count, by } = denials.at(-1)!;
  assert.deepEqual([time, count, by], ["1970-01-01T00:00:01.000Z", 4000, { face: "s3" }]);
  assert.match(detail!, /combined until 1970-01-01T00:00:02.999Z/);
  assert.equal(written.at(-1)!.act, "create key");
});

test("entries that a log did not accept by the end are reported with their number", async () => {
  const { record, flush, warnings } = scene();
  for (let i = 0; i < 3; i++) await record({ act: "deny request", by: { face: "s3" } });
  await record({ act: "delete key", subject: "K", by: { face: "console" } });
  await flush();
  assert.equal(
    warnings.at(-1),
    'The audit log could not be written and lacks these entries: 3 × "deny request", 1 × "delete key"',
  );
});
