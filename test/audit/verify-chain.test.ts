// Verification of the hash chain: every change to the lines of a log is found and located.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditEntry } from "../../src/audit/audit-log.ts";
import {
  type ChainedEntry,
  type ChainHead,
  maxLineBytes,
  parseLine,
  sealEntry,
  sha256,
} from "../../src/audit/chain.ts";
import type { AuditLine, ChainReport } from "../../src/audit/chain-report.ts";
import { verifyChain } from "../../src/audit/verify-chain.ts";
import { createRandom } from "../support/random.ts";

function entry(number: number): AuditEntry {
  const time = new Date(Date.UTC(2026, 0, 1, 0, 0, number)).toISOString();
  return { time, act: "create bucket", subject: `bucket-${number}`, by: { face: "command line" } };
}

/** Returns the lines of a chain; `heads[n]` is the head after n entries. */
function createChain(count: number, start: ChainHead = { seq: 0, hash: sha256("") }) {
  const lines: string[] = [];
  const heads = [start];
  for (let number = 1; number <= count; number++) {
    const sealed = sealEntry(entry(number), heads.at(-1)!);
    lines.push(sealed.line);
    heads.push(sealed.head);
  }
  return { lines, heads };
}

async function* toLines(lines: readonly string[]): AsyncGenerator<AuditLine> {
  for (const [index, text] of lines.entries()) {
    yield { bytes: Buffer.from(text), file: "audit.log", number: index + 1, isComplete: true };
  }
}

function verify(lines: readonly string[], options = {}): Promise<ChainReport> {
  return verifyChain(toLines(lines), options);
}

function found({ breaks }: ChainReport): unknown[][] {
  return breaks.map(({ kind, line, seq }) => [kind, line, seq]);
}

/** Writes an entry again with another subject and a matching hash, as an attacker would. */
function forge(line: string): string {
  const { seq, previous, hash: _, ...rest } = JSON.parse(line) as ChainedEntry;
  return sealEntry({ ...rest, subject: "forged" }, { seq: seq - 1, hash: previous }).line;
}

test("a whole chain is reported with its number of entries, its first and last time and its head", async () => {
  const { lines, heads } = createChain(10);
  const report = await verify(lines, { savedHead: heads[10], expected: [heads[4]!.hash, heads[10]!.hash] });
  assert.deepEqual(
    [report.entries, report.firstTime, report.lastTime, report.head, report.breakCount],
    [10, entry(1).time, entry(10).time, heads[10], 0],
  );
});

test("a changed entry is found, with or without a new hash, at the start, inside and at the end", async () => {
  const { lines, heads } = createChain(10);
  for (const index of [0, 4, 9]) {
    const edited = lines.with(index, lines[index]!.replace("bucket-", "pocket-"));
    assert.deepEqual(found(await verify(edited)), [["changed", index + 1, index + 1]]);
    const forged = lines.with(index, forge(lines[index]!));
    const report = await verify(forged, { savedHead: heads[10] });
    assert.deepEqual(found(report), [["changed", index + 1, index + 1]]);
    assert.match(
      report.breaks[0]!.message,
      new RegExp(`^audit.log line ${index + 1}: entry ${index + 1} of 2026-`),
    );
  }
});

test("an entry overwritten with bytes that are not an entry is found as changed", async () => {
  const { lines } = createChain(10);
  assert.deepEqual(found(await verify(lines.with(4, "?"))), [["changed", 5, 5]]);
});

test("an entry whose number or previous hash was changed is found", async () => {
  const { lines } = createChain(10);
  const other = lines[4]!.replace('"seq":5', '"seq":7');
  assert.deepEqual(found(await verify(lines.with(4, other))), [["changed", 5, 5]]);
  const elsewhere = sealEntry(entry(5), { seq: 4, hash: sha256("elsewhere") }).line;
  assert.deepEqual(found(await verify(lines.with(4, elsewhere))), [["changed", 5, 5]]);
});

test("removed entries are found between the entries around them", async () => {
  const { lines } = createChain(10);
  assert.deepEqual(found(await verify(lines.toSpliced(4, 1))), [["removed", 5, 5]]);
  const several = await verify(lines.toSpliced(4, 3));
  assert.deepEqual(found(several), [["removed", 5, 5]]);
  assert.match(
    several.breaks[0]!.message,
    /entries 5 to 7 were removed between entry 4 of .* and entry 8 of /,
  );
});

test("entries removed at the start are found unless the log records that it was trimmed or a hash of them is expected", async () => {
  const { lines, heads } = createChain(10);
  const cut = await verify(lines.slice(3));
  assert.deepEqual(found(cut), [["removed", undefined, 1]]);
  assert.match(cut.breaks[0]!.message, /^Entries 1 to 3 are missing at the start/);
  assert.equal((await verify(lines.slice(3), { expected: [heads[3]!.hash] })).breakCount, 0);
  const trim = { ...entry(11), act: "trim audit log", detail: "up to entry 3" } as const;
  const trimmed = [...lines, sealEntry(trim, heads[10]!).line];
  assert.equal((await verify(trimmed.slice(3))).breakCount, 0);
  assert.deepEqual(found(await verify(trimmed.slice(4))), [["removed", undefined, 1]]);
});

test("entries cut off the end are found by the saved head or by an expected hash, not by the chain alone", async () => {
  const { lines, heads } = createChain(10);
  const cut = lines.slice(0, 7);
  assert.equal((await verify(cut)).breakCount, 0);
  assert.deepEqual(found(await verify(cut, { savedHead: heads[10] })), [["removed", undefined, 8]]);
  const expected = await verify(cut, { expected: [heads[9]!.hash] });
  assert.equal(expected.breakCount, 1);
  assert.match(expected.breaks[0]!.message, new RegExp(heads[9]!.hash));
  assert.equal((await verify(cut, { expected: [heads[7]!.hash] })).breakCount, 0);
});

test("an inserted entry is found, whether it has a number, a matching hash or neither", async () => {
  const { lines, heads } = createChain(10);
  const inserts = [
    JSON.stringify(entry(5)),
    "no entry",
    lines[1]!,
    sealEntry(entry(99), heads[4]!).line,
    sealEntry(entry(99), { seq: 4, hash: sha256("elsewhere") }).line,
    sealEntry(entry(99), heads[4]!).line.replace("bucket-99", "bucket-98"),
    sealEntry(entry(99), { seq: 70, hash: sha256("elsewhere") }).line,
  ];
  for (const insert of inserts) {
    const report = await verify(lines.toSpliced(4, 0, insert));
    assert.deepEqual(
      report.breaks.map(({ kind, line }) => [kind, line]),
      [["inserted", 5]],
      insert,
    );
  }
});

test("an entry inserted after the one with the same number is found", async () => {
  const { lines, heads } = createChain(10);
  const report = await verify(lines.toSpliced(5, 0, sealEntry(entry(99), heads[4]!).line));
  assert.deepEqual(found(report), [["inserted", 6, 5]]);
});

test("swapped entries and entries moved elsewhere are found as moved", async () => {
  const { lines } = createChain(10);
  const swapped = lines.with(4, lines[5]!).with(5, lines[4]!);
  assert.deepEqual(found(await verify(swapped)), [["moved", 5, 6]]);
  const later = lines.toSpliced(4, 1).toSpliced(7, 0, lines[4]!);
  assert.deepEqual(found(await verify(later)), [["moved", 8, 5]]);
  const earlier = lines.toSpliced(7, 1).toSpliced(2, 0, lines[7]!);
  assert.deepEqual(found(await verify(earlier)), [["moved", 3, 8]]);
});

test("entries before the start of the chain are counted, and a change to them is found", async () => {
  const before = [JSON.stringify(entry(1)), '{"time":"cut', JSON.stringify(entry(2))];
  const { lines } = createChain(3, { seq: 0, hash: sha256(`${before.join("\n")}\n`) });
  const report = await verify([...before, ...lines]);
  assert.deepEqual([report.unchained, report.entries, report.breakCount], [2, 3, 0]);
  for (const changed of [before.slice(1), before.with(0, "{}"), [...before, "{}"]]) {
    assert.equal((await verify([...changed, ...lines])).breaks[0]!.kind, "changed");
  }
});

test("a line cut by a crash is accepted only if the next entry names its hash", async () => {
  const { lines, heads } = createChain(5);
  const torn = '{"seq":6,"prev';
  const repair = { ...entry(6), act: "repair audit log", detail: sha256(torn), count: torn.length } as const;
  const repaired = [...lines, torn, sealEntry(repair, heads[5]!).line];
  const report = await verify(repaired);
  assert.deepEqual([report.repaired, report.breakCount], [1, 0]);
  assert.equal((await verify(repaired.with(5, "something else"))).breakCount, 1);
});

test("of random edits of a byte, none is accepted", async () => {
  const { lines, heads } = createChain(20);
  const bytes = Buffer.from(`${lines.join("\n")}\n`);
  const random = createRandom(17);
  for (let round = 0; round < 400; round++) {
    const edited = Buffer.from(bytes);
    const at = random.below(edited.length - 1);
    edited[at] = edited[at]! ^ (1 + random.below(255));
    const split = edited.toString("latin1").split("\n").slice(0, -1);
    const lineBytes = split.map((text) => Buffer.from(text, "latin1"));
    async function* read(): AsyncGenerator<AuditLine> {
      for (const [index, one] of lineBytes.entries())
        yield { bytes: one, file: "audit.log", number: index + 1, isComplete: true };
    }
    const report = await verifyChain(read(), { savedHead: heads[20] });
    assert.ok(report.breakCount > 0, `a change of byte ${at} was accepted`);
  }
});

test("the memory for breaks is bounded, and their number is exact", async () => {
  const { lines } = createChain(1001);
  const every = lines.map((line, index) => (index % 2 === 0 ? line : line.replace("bucket", "pocket")));
  const report = await verify(every);
  assert.deepEqual([report.breakCount, report.breaks.length], [500, 100]);
});

test("long texts are cut, and unknown fields are not written, so every line is bounded", () => {
  const text = "\u0001".repeat(100_000);
  const by = { face: "s3", name: text, remoteAddress: text, request: text, secret: text } as const;
  const { line } = sealEntry({ ...entry(1), subject: text, detail: text, by }, { seq: 0, hash: sha256("") });
  assert.ok(Buffer.byteLength(line) <= maxLineBytes, String(line.length));
  assert.ok(!line.includes('"secret"'));
  assert.equal(parseLine(Buffer.from(line)).kind, "chained");
});
