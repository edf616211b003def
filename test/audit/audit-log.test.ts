// The audit log in a data directory and in documents: entries are durable and in order.
import assert from "node:assert/strict";
import { appendFileSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { AuditEntry, AuditLog } from "../../src/audit/audit-log.ts";
import { createAuditRecorder } from "../../src/audit/audit-log.ts";
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
  appendFileSync(file, "{}\n");
  assert.equal((await subjects(acts, place)).names.length, 1);
  appendFileSync(file, '{"time":"cut o\n');
  await acts.record(act("two"));
  appendFileSync(file, '{"time":"being writ');
  assert.deepEqual((await subjects(acts)).names, [undefined, "two"]);
  assert.equal(readFileSync(`${file}.1`, "utf8").split("\n").length, 2);
});

test("a change that cannot be recorded in the audit log succeeds with a warning", async () => {
  const warnings: string[] = [];
  const broken: AuditLog = {
    record: () => Promise.reject(new Error("no space")),
    async *read() {},
    verify: () => Promise.reject(new Error("no space")),
    limit: async () => {},
  };
  const record = createAuditRecorder(
    broken,
    () => 0,
    (line) => warnings.push(line),
  );
  await record({ act: "delete key", subject: "K", by: { face: "s3" } });
  assert.deepEqual(warnings, ['"delete key" was done, but could not be recorded in the audit log: no space']);
});
