// The hash chain in the audit file: appends of several processes, crashes, rotation and tampering.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type AuditEntry, type AuditLog, minLogBytes } from "../../../src/audit/audit-log.ts";
import { sha256 } from "../../../src/audit/chain.ts";
import { createAuditFile } from "../../../src/local/disk/audit-file.ts";
import { temporaryDirectory } from "../../support/stores.ts";

const program = fileURLToPath(new URL("./audit-writer.js", import.meta.url));

function entry(subject: string): AuditEntry {
  return { time: new Date().toISOString(), act: "create bucket", subject, by: { face: "command line" } };
}

async function scene(t: TestContext): Promise<{ file: string; log: AuditLog }> {
  const file = join(await temporaryDirectory(t), "audit.log");
  return { file, log: createAuditFile(file) };
}

async function readSubjects(
  log: AuditLog,
  after?: string,
): Promise<{ subjects: string[]; position?: string }> {
  const subjects: string[] = [];
  let position = after;
  for await (const item of log.read(after)) {
    subjects.push(item.entry.subject ?? item.entry.act);
    position = item.position;
  }
  return position === undefined ? { subjects } : { subjects, position };
}

function linesOf(file: string): string[] {
  return readFileSync(file, "utf8").trimEnd().split("\n");
}

test("four processes append to one chain without a gap, and no entry is lost", async (t) => {
  const { file, log } = await scene(t);
  const writers = ["a", "b", "c", "d"].map((name) =>
    spawn(process.execPath, [program, file, name, "50"], { stdio: ["ignore", "ignore", "inherit"] }),
  );
  for (const [code] of await Promise.all(writers.map((writer) => once(writer, "exit"))))
    assert.equal(code, 0);
  const report = await log.verify();
  assert.deepEqual([report.entries, report.breakCount, report.head!.seq], [200, 0, 200]);
  const { subjects } = await readSubjects(log);
  for (const name of ["a", "b", "c", "d"]) {
    const own = subjects.filter((subject) => subject.startsWith(name));
    assert.deepEqual(
      own,
      Array.from({ length: 50 }, (_, index) => `${name}-${index + 1}`),
    );
  }
});

test("after writers were killed, every acknowledged entry is in the chain, and the chain is whole", async (t) => {
  const { file, log } = await scene(t);
  for (let round = 0; round < 4; round++) {
    const name = `round${round}`;
    const writer = spawn(process.execPath, [program, file, name], { stdio: ["ignore", "pipe", "inherit"] });
    let acknowledged = "";
    writer.stdout!.on("data", (chunk: Buffer) => {
      acknowledged += chunk.toString();
      if (acknowledged.length > 40 + round * 37) writer.kill("SIGKILL");
    });
    await once(writer, "close");
    await log.record(entry(`after ${name}`));
    const report = await log.verify();
    assert.deepEqual(report.breaks, []);
    const subjects = new Set((await readSubjects(log)).subjects);
    for (const number of acknowledged.trim().split("\n"))
      assert.ok(subjects.has(`${name}-${number}`), number);
  }
});

test("a line that a crash cut is reported, then kept and named by an entry of the chain", async (t) => {
  const { file, log } = await scene(t);
  await log.record(entry("one"));
  const torn = '{"seq":2,"previous":"ab';
  appendFileSync(file, torn);
  const cut = await log.verify();
  assert.deepEqual(
    cut.breaks.map(({ kind, line }) => [kind, line]),
    [["torn", 2]],
  );
  await log.record(entry("two"));
  const repaired = await log.verify();
  assert.deepEqual([repaired.repaired, repaired.breaks], [1, []]);
  const acts = linesOf(file).map((line) => (line === torn ? line : (JSON.parse(line) as AuditEntry).act));
  assert.deepEqual(acts, ["create bucket", torn, "repair audit log", "create bucket"]);
  writeFileSync(file, readFileSync(file, "utf8").replace(torn, "another text"));
  assert.equal((await log.verify()).breakCount, 1);
});

test("an entry of which a crash cut only the line break stays in the chain", async (t) => {
  const { file, log } = await scene(t);
  await log.record(entry("one"));
  await log.record(entry("two"));
  writeFileSync(file, readFileSync(file, "utf8").trimEnd());
  assert.equal((await log.verify()).breaks[0]!.kind, "torn");
  await log.record(entry("three"));
  const report = await log.verify();
  assert.deepEqual([report.entries, report.breaks], [3, []]);
  assert.deepEqual((await readSubjects(log)).subjects, ["one", "two", "three"]);
});

test("entries of versions without a chain stay readable, and the first chained entry names their hash", async (t) => {
  const { file, log } = await scene(t);
  const before = `${JSON.stringify(entry("old"))}\n{"time":"cut\n${JSON.stringify(entry("older"))}\n`;
  writeFileSync(file, before);
  const unchained = await log.verify();
  assert.deepEqual([unchained.unchained, unchained.entries, unchained.breakCount], [2, 0, 0]);
  await log.record(entry("new"));
  assert.equal((JSON.parse(linesOf(file)[3]!) as { previous: string }).previous, sha256(before));
  const report = await log.verify();
  assert.deepEqual([report.unchained, report.entries, report.breaks], [2, 1, []]);
  assert.deepEqual((await readSubjects(log)).subjects, ["old", "older", "new"]);
  writeFileSync(file, readFileSync(file, "utf8").replace('"older"', '"elder"'));
  assert.equal((await log.verify()).breaks[0]!.kind, "changed");
});

test("a cut-off end is found at once and stays visible after further entries", async (t) => {
  const { file, log } = await scene(t);
  for (const subject of ["one", "two", "three"]) await log.record(entry(subject));
  writeFileSync(file, `${linesOf(file)[0]}\n`);
  assert.match((await log.verify()).breaks[0]!.message, /Entries 2 to 3 are missing at the end/);
  await log.record(entry("four"));
  const report = await log.verify();
  assert.match(report.breaks[0]!.message, /entries 2 to 3 were removed between entry 1 of .* and entry 4 of/);
});

test("without the saved head, a cut-off end is found only by an expected hash", async (t) => {
  const { file, log } = await scene(t);
  for (const subject of ["one", "two", "three"]) await log.record(entry(subject));
  const { head } = await log.verify();
  writeFileSync(file, `${linesOf(file)[0]}\n`);
  renameSync(`${file}.head`, `${file}.gone`);
  assert.equal((await log.verify()).breakCount, 0);
  assert.match((await log.verify([head!.hash])).breaks[0]!.message, /expected hash .* is not in the chain/);
});

test("a full file is renamed and the chain goes on, a reader continues, and the oldest files are removed", async (t) => {
  const { file, log } = await scene(t);
  await log.limit(minLogBytes);
  await log.record(entry("first"));
  let { position } = await readSubjects(log);
  const seen: string[] = [];
  const detail = "x".repeat(1000);
  for (let round = 0; round < 20; round++) {
    await Promise.all(
      Array.from({ length: 64 }, (_, index) => log.record({ ...entry(`${round}-${index}`), detail })),
    );
    const next = await readSubjects(log, position);
    position = next.position;
    seen.push(...next.subjects.filter((subject) => subject.includes("-")));
  }
  assert.equal(seen.length, 20 * 64);
  assert.equal(new Set(seen).size, 20 * 64, "no entry is read twice");
  const files = readdirSync(join(file, "..")).filter((name) => /^audit\.log(\.\d+)?$/.test(name));
  assert.ok(files.length > 3 && files.length <= 8, files.join());
  const bytes = files.reduce((sum, name) => sum + statSync(join(file, "..", name)).size, 0);
  assert.ok(bytes <= minLogBytes, String(bytes));
  const report = await log.verify();
  assert.deepEqual(report.breaks, []);
  assert.ok(report.firstSeq! > 1, "the oldest entries were removed");
  assert.equal((await readSubjects(log)).subjects.length, report.entries);

  const [oldest] = files.filter((name) => name !== "audit.log").sort();
  renameSync(join(file, "..", oldest!), join(file, "..", "elsewhere"));
  assert.match((await log.verify()).breaks[0]!.message, /missing at the start of the log/);
});

test("after another program renamed the file, the new file continues the chain", async (t) => {
  const { file, log } = await scene(t);
  await log.record(entry("one"));
  const { head } = await log.verify();
  const { position } = await readSubjects(log);
  renameSync(file, `${file}.archived`);
  await log.record(entry("two"));
  assert.deepEqual((await readSubjects(log, position)).subjects, ["two"]);
  const report = await log.verify([head!.hash]);
  assert.deepEqual([report.firstSeq, report.breaks], [2, []]);
  assert.match((await log.verify()).breaks[0]!.message, /Entry 1 is missing at the start/);
});

test("the head, the lock and the limit of the audit file are private", async (t) => {
  const { file, log } = await scene(t);
  await log.limit(minLogBytes);
  await log.record(entry("one"));
  for (const suffix of ["", ".head", ".lock", ".limit"]) {
    assert.ok(existsSync(file + suffix), suffix);
    assert.equal(statSync(file + suffix).mode & 0o777, 0o600, suffix);
  }
});

test("reading and verifying a long line takes bounded memory and reports it", async (t) => {
  const { file, log } = await scene(t);
  await log.record(entry("one"));
  const lineBytes = 64 * 1024 * 1024;
  truncateSync(file, statSync(file).size + lineBytes);
  appendFileSync(file, "\n");
  await log.record(entry("two"));
  const before = process.memoryUsage.rss();
  assert.deepEqual((await readSubjects(log)).subjects, ["one", "two"]);
  const { breaks } = await log.verify();
  assert.equal(breaks[0]!.kind, "inserted");
  // Chunks may be freed late. Read whole, twice, the line would take its size as bytes and as text.
  assert.ok(process.memoryUsage.rss() - before < 1.75 * lineBytes, "the line is not read whole");
});
