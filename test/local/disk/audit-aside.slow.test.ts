// Entries are recorded while the process that holds the audit log's lock is stopped or blocked.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { AuditEntry, AuditLog } from "../../../src/audit/audit-log.ts";
import { createAuditFile } from "../../../src/local/disk/audit-file.ts";
import { temporaryDirectory } from "../../support/stores.ts";

const holderProgram = fileURLToPath(new URL("./audit-lock-holder.js", import.meta.url));
const writerProgram = fileURLToPath(new URL("./audit-writer.js", import.meta.url));

async function startHolder(t: TestContext, file: string): Promise<ChildProcess> {
  const holder = spawn(process.execPath, [holderProgram, file], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => holder.kill("SIGKILL"));
  await once(holder.stdout!, "data");
  return holder;
}

async function runWriters(file: string, names: readonly string[], count: number): Promise<void> {
  const writers = names.map((name) =>
    spawn(process.execPath, [writerProgram, file, name, String(count)], {
      stdio: ["ignore", "ignore", "inherit"],
    }),
  );
  for (const [code] of await Promise.all(writers.map((writer) => once(writer, "exit")))) {
    assert.equal(code, 0);
  }
}

async function readSubjects(log: AuditLog): Promise<string[]> {
  const subjects: string[] = [];
  for await (const { entry } of log.read()) subjects.push(entry.subject ?? entry.act);
  return subjects;
}

function asideFiles(file: string): string[] {
  return readdirSync(dirname(file)).filter((name) => name.includes(".aside."));
}

function expectedSubjects(names: readonly string[], count: number): string[] {
  return names.flatMap((name) => Array.from({ length: count }, (_, index) => `${name}-${index + 1}`));
}

for (const end of ["continues", "is killed"] as const) {
  test(`entries recorded while the lock's holder is stopped are in the chain after it ${end}`, async (t) => {
    const file = join(await temporaryDirectory(t), "audit.log");
    const holder = await startHolder(t, file);
    holder.kill("SIGSTOP");
    await runWriters(file, ["a", "b"], 20);
    const log = createAuditFile(file);
    const stopped = await log.verify();
    assert.deepEqual([stopped.entries, stopped.waiting, stopped.breaks], [0, 40, []]);
    for (const name of asideFiles(file)) {
      assert.equal(statSync(join(dirname(file), name)).mode & 0o777, 0o600);
    }

    const exited = once(holder, "exit");
    if (end === "continues") {
      holder.kill("SIGCONT");
      holder.stdin!.end("go on\n");
    } else holder.kill("SIGKILL");
    await exited;
    const own = end === "continues" ? ["holder"] : [];
    const subjects = await readSubjects(log);
    assert.deepEqual(subjects.sort(), [...expectedSubjects(["a", "b"], 20), ...own].sort());
    const report = await log.verify();
    assert.deepEqual([report.entries, report.waiting, report.breaks], [subjects.length, 0, []]);
    assert.deepEqual(asideFiles(file), []);
  });
}

test("a process that set entries aside appends them by itself once the lock is free", async (t) => {
  const file = join(await temporaryDirectory(t), "audit.log");
  const log = createAuditFile(file);
  const holder = await startHolder(t, file);
  await log.record({ ...entry("one"), secret: "hidden" } as AuditEntry);
  assert.equal(asideFiles(file).length, 1);
  const exited = once(holder, "exit");
  holder.stdin!.end("go on\n");
  await exited;
  while (asideFiles(file).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual((await log.verify()).entries, 2);
});

test("a damaged line among the entries that wait is recorded by its hash, and stops nothing", async (t) => {
  const file = join(await temporaryDirectory(t), "audit.log");
  const holder = await startHolder(t, file);
  const log = createAuditFile(file);
  await log.record(entry("one"));
  appendFileSync(join(dirname(file), asideFiles(file)[0]!), "no entry\n");
  holder.kill("SIGKILL");
  await once(holder, "exit");
  assert.deepEqual(await readSubjects(log), ["one", "repair audit log"]);
  assert.deepEqual((await log.verify()).breaks, []);
});

test("batches beyond the bound are refused, so that their writer keeps and counts the entries", async (t) => {
  const file = join(await temporaryDirectory(t), "audit.log");
  await startHolder(t, file);
  for (let i = 0; i < 1000; i++) {
    const id = `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`;
    writeFileSync(`${file}.aside.${id}`, `${JSON.stringify(entry(`waiting ${i}`))}\n`);
  }
  await assert.rejects(createAuditFile(file).record(entry("late")), /1000 batches of entries already wait/);
});

function entry(subject: string): AuditEntry {
  return { time: new Date().toISOString(), act: "create bucket", subject, by: { face: "command line" } };
}
