// The audit log in a data directory and in documents: entries are durable and in order.
import assert from "node:assert/strict";
import { appendFileSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { AuditEntry, AuditLog } from "../../src/audit/audit-log.ts";
import { openEngine } from "../../src/open.ts";
import { temporaryDirectory } from "../support/stores.ts";

function act(subject: string, second = 0): AuditEntry {
  const time = new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
  return { time, act: "create bucket", subject, by: { face: "command line", name: "anna" } };
}

async function subjects(
  log: AuditLog,
  after?: string,
): Promise<{ names: string[]; place: string | undefined }> {
  const names: string[] = [];
  let place = after;
  for await (const noted of log.read(after)) {
    names.push(noted.entry.subject!);
    place = noted.position;
  }
  return { names, place };
}

for (const kind of ["a data directory", "memory"]) {
  test(`audit entries in ${kind} are read in order, and a later read continues where the first ended`, async (t) => {
    const { engine, auditLog: acts } = await openEngine(
      kind === "memory" ? "memory:" : await temporaryDirectory(t),
    );
    t.after(() => engine.close());
    assert.deepEqual(await subjects(acts), { names: [], place: undefined });
    await acts.record(act("one", 1));
    await acts.record(act("two\n\u{1f5c4}", 2));
    const { names, place } = await subjects(acts);
    assert.deepEqual(names, ["one", "two\n\u{1f5c4}"]);
    await acts.record(act("three", 3));
    assert.deepEqual((await subjects(acts, place)).names, ["three"]);
    await Promise.all(Array.from({ length: 20 }, (_, i) => acts.record(act(`more ${i}`, 4))));
    assert.equal((await subjects(acts)).names.length, 23);
  });
}

test("the audit file is private, is created again after a rename, and survives a line cut off by a crash", async (t) => {
  const directory = await temporaryDirectory(t);
  const { engine, auditLog: acts } = await openEngine(directory);
  t.after(() => engine.close());
  const file = join(directory, "audit.log");
  await acts.record(act("one"));
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const { place } = await subjects(acts);
  renameSync(file, `${file}.1`);
  const time = "2026-01-01T00:00:00.000Z";
  appendFileSync(file, `{}\n${JSON.stringify({ time, act: "delete key", by: { face: "s3" } })}\n`);
  assert.equal((await subjects(acts, place)).names.length, 1);
  appendFileSync(file, '{"time":"cut o\n');
  await acts.record(act("two"));
  appendFileSync(file, '{"time":"being writ');
  assert.deepEqual((await subjects(acts)).names, [undefined, "two"]);
  assert.equal(readFileSync(`${file}.1`, "utf8").split("\n").length, 2);
});

test("a run of lifecycle rules is recorded once for each bucket in which it deleted objects", async (t) => {
  const now = Date.UTC(2026, 0, 1);
  let time = now;
  const { engine, auditLog } = await openEngine("memory:", { now: () => time });
  t.after(() => engine.close());
  for (const name of ["logs", "photos", "kept"]) await engine.createBucket(name);
  const rule = { id: "old", isEnabled: true, prefix: "old/", expire: { days: 1 } };
  for (const name of ["logs", "photos"]) await engine.changeSettings(name, { lifecycle: [rule] });
  for (let i = 0; i < 3; i++) await engine.put("logs", `old/${i}`, Buffer.from("text"));
  await engine.put("logs", "new", Buffer.from("text"));
  await engine.sweep();
  time = now + 3 * 86_400_000;
  await engine.sweep();
  await engine.sweep();
  const entries: AuditEntry[] = [];
  for await (const { entry } of auditLog.read()) entries.push(entry);
  assert.deepEqual(
    entries.map(({ act, subject, detail, count, by }) => [act, subject, detail, count, by.face]),
    [["expire objects", "logs", "3 objects, 0 noncurrent versions, 0 uploads", 3, "server"]],
  );
});
