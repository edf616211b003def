// The hash chain in documents, as clusters store it: several servers append to one chain.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { type AuditEntry, type AuditLog, minLogBytes } from "../../src/audit/audit-log.ts";
import { createDocumentAuditLog } from "../../src/audit/document-audit-log.ts";
import type { Documents } from "../../src/engine/records.ts";
import { createMemoryDocuments } from "../../src/memory/documents.ts";

function entry(subject: string): AuditEntry {
  return { time: "2026-01-01T00:00:00.000Z", act: "create bucket", subject, by: { face: "s3" } };
}

/** Lets other servers run before and after each call, as a network does. */
function slow(documents: Documents): Documents {
  const wrap =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      await turn();
      const result = await call(...args);
      await turn();
      return result;
    };
  const { get, list, put } = documents;
  return { get: wrap(get), list: wrap(list), put: wrap(put), delete: wrap(documents.delete) };
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

function nameOf(seq: number): string {
  return String(seq).padStart(15, "0");
}

async function overwrite(documents: Documents, kind: string, name: string, text: string): Promise<void> {
  const revision = (await documents.get(kind, name))?.revision;
  assert.equal(await documents.put(kind, name, text, revision), "committed");
}

test("four servers append to one chain in documents, and no entry is lost", async () => {
  const documents = createMemoryDocuments();
  const servers = ["a", "b", "c", "d"].map((name) => ({
    name,
    log: createDocumentAuditLog(slow(documents)),
  }));
  await Promise.all(
    servers.map(async ({ name, log }) => {
      for (let number = 0; number < 10; number++) await log.record(entry(`${name}${number}`));
    }),
  );
  const report = await servers[0]!.log.verify();
  assert.deepEqual([report.entries, report.breaks, report.head!.seq], [40, [], 40]);
  assert.equal(new Set((await readSubjects(servers[1]!.log)).subjects).size, 40);
});

test("changed, removed, swapped, inserted and cut-off documents are found", async () => {
  const attacks: [string, (documents: Documents) => Promise<void>][] = [
    [
      "changed",
      async (documents) => {
        const text = (await documents.get("audit", nameOf(3)))!.text;
        await overwrite(documents, "audit", nameOf(3), text.replace("two", "TWO"));
      },
    ],
    ["removed", async (documents) => void (await documents.delete("audit", nameOf(3)))],
    ["removed", async (documents) => void (await documents.delete("audit", nameOf(5)))],
    ["removed", async (documents) => void (await documents.delete("audit", nameOf(1)))],
    [
      "moved",
      async (documents) => {
        const [two, three] = [nameOf(2), nameOf(3)];
        const texts = [
          (await documents.get("audit", two))!.text,
          (await documents.get("audit", three))!.text,
        ];
        await overwrite(documents, "audit", two, texts[1]!);
        await overwrite(documents, "audit", three, texts[0]!);
      },
    ],
    ["inserted", async (documents) => overwrite(documents, "audit", nameOf(6), JSON.stringify(entry("six")))],
  ];
  for (const [kind, attack] of attacks) {
    const documents = createMemoryDocuments();
    const log = createDocumentAuditLog(documents);
    for (const subject of ["zero", "one", "two", "three", "four"]) await log.record(entry(subject));
    assert.equal((await log.verify()).breakCount, 0);
    await attack(documents);
    const { breaks } = await log.verify();
    assert.deepEqual(
      breaks.map((found) => found.kind),
      [kind],
    );
    await log.record(entry("later"));
    assert.ok((await log.verify()).breakCount > 0, `${kind} stays visible after another entry`);
  }
});

test("without the saved head, cut-off documents are found by an expected hash", async () => {
  const documents = createMemoryDocuments();
  const log = createDocumentAuditLog(documents);
  for (const subject of ["one", "two"]) await log.record(entry(subject));
  const { head } = await log.verify();
  await documents.delete("audit", nameOf(2));
  await documents.delete("audit head", "head");
  assert.equal((await log.verify()).breakCount, 0);
  assert.equal((await log.verify([head!.hash])).breakCount, 1);
});

test("entries of versions without a chain stay readable before it, and a change to them is found", async () => {
  const documents = createMemoryDocuments();
  const log = createDocumentAuditLog(documents);
  for (const number of [1, 2])
    await overwrite(documents, "act", `2025-01-0${number} ab`, JSON.stringify(entry(`old ${number}`)));
  const { position } = await readSubjects(log);
  await log.record(entry("new"));
  assert.deepEqual((await readSubjects(log)).subjects, ["old 1", "old 2", "new"]);
  assert.deepEqual((await readSubjects(log, position)).subjects, ["new"]);
  const report = await log.verify();
  assert.deepEqual([report.unchained, report.entries, report.breaks], [2, 1, []]);
  await documents.delete("act", "2025-01-01 ab");
  assert.equal((await log.verify()).breaks[0]!.kind, "changed");
});

test("beyond the limit the oldest documents are removed, the chain records it, and a reader continues", async () => {
  const documents = createMemoryDocuments();
  const log = createDocumentAuditLog(documents);
  await log.limit(minLogBytes);
  const detail = "x".repeat(1000);
  let position: string | undefined;
  let seen = 0;
  for (let number = 0; number < 1500; number++) {
    await log.record({ ...entry("bucket"), detail });
    if (number % 100 !== 99) continue;
    const next = await readSubjects(log, position);
    position = next.position;
    seen += next.subjects.filter((subject) => subject === "bucket").length;
  }
  assert.equal(seen, 1500);
  const stored = await documents.list("audit");
  assert.ok(stored.reduce((sum, { text }) => sum + text.length, 0) < minLogBytes * 1.01);
  const report = await log.verify();
  assert.deepEqual([report.breaks, report.entries], [[], stored.length]);
  assert.ok(report.firstSeq! > 1);
});
