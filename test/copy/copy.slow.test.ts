// Copies of a whole store between all kinds of locations: all data is copied unchanged, an
// interrupted copy resumes, and damage and differences are reported by key.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { type CopyOptions, copyAll } from "../../src/copy/copy-store.ts";
import { copiedKinds, uncopiedKinds, unfinishedCopy } from "../../src/copy/documents.ts";
import { createEngine } from "../../src/engine/create.ts";
import { sealedSize } from "../../src/engine/encryption/sealed-blocks.ts";
import { openLocal } from "../../src/local/open.ts";
import { createMemoryBlobs } from "../../src/memory/blobs.ts";
import { createMemoryRecords } from "../../src/memory/records.ts";
import { CopyError, type CopyFinding, type CopyReport } from "../../src/model/copy.ts";
import { StoreError } from "../../src/model/errors.ts";
import { limits } from "../../src/model/limits.ts";
import { root } from "../cli/store.ts";
import { assertBytes, collect, sampleBytes } from "../support/bytes.ts";
import { blobFiles } from "../support/disk/on-disk.ts";
import {
  assertSound,
  contentsOf,
  customerKey,
  fill,
  partsBody,
  sealedBody,
} from "../support/filled-store.ts";
import { type Ports, portPairs } from "../support/ports.ts";
import { temporaryDirectory } from "../support/stores.ts";

interface Outcome {
  readonly report: CopyReport;
  readonly findings: readonly CopyFinding[];
}

async function copy(from: Ports, to: Ports, options: Partial<CopyOptions> = {}): Promise<Outcome> {
  const findings: CopyFinding[] = [];
  const tell = async (finding: CopyFinding) => void findings.push(finding);
  const report = await copyAll(from, to, { source: "the source", onFinding: tell, ...options });
  return { report, findings };
}

function memory(): Ports {
  return { records: createMemoryRecords(), blobs: createMemoryBlobs() };
}

async function filledMemory(): Promise<Ports> {
  const ports = memory();
  await fill(ports);
  return ports;
}

for (const source of portPairs) {
  for (const target of portPairs) {
    test(`a copy from ${source.name} to ${target.name} contains all data unchanged`, async (t) => {
      const [from, to] = [await source.open(t), await target.open(t)];
      await fill(from);
      const { report, findings } = await copy(from, to);
      assert.deepEqual(findings, []);
      const { objects, bytes } = await from.records.totals("photos");
      assert.deepEqual(report, {
        ...{ buckets: 2, objects, bytes, uploads: 4, documents: 3 },
        ...{ copiedObjects: objects, damages: 0, differences: 0 },
      });
      assert.deepEqual(await contentsOf(to), await contentsOf(from));
      await assertSound(to);
      assert.equal(await unfinishedCopy(to), undefined);
    });
  }
}

test("copied objects, plain or encrypted, are readable, and a copied upload can be completed", async () => {
  const to = memory();
  await copy(await filledMemory(), to);
  const engine = createEngine({ ...to, now: () => 1_700_000_001_000 });
  const bodies = { "sealed large": sealedBody, "sealed parts": partsBody, "in parts": partsBody };
  for (const [key, body] of Object.entries(bodies)) {
    const own = key.startsWith("sealed") ? { customerKey } : {};
    const got = await engine.get("photos", key, own);
    assert.ok(got.outcome === "found");
    assertBytes(await collect(got.bytes.chunks()), body, key);
  }
  const second = await engine.get("photos", "in parts", { part: 2 });
  assert.ok(second.outcome === "found");
  assertBytes(await collect(second.bytes.chunks()), partsBody.subarray(70_000, 140_000));
  const { uploads } = await engine.listUploads("photos");
  const [upload] = uploads;
  assert.equal(upload?.key, "on its way");
  const { parts } = await engine.listParts("photos", upload);
  const done = await engine.completeUpload("photos", upload, [parts[0]!]);
  assert.equal(done.size, 100_001);
  await engine.close();
});

/** Returns ports whose commits fail after the first `after`, before or after they are applied. */
function cutOff({ records, blobs }: Ports, after: number, when: "before" | "after"): Ports {
  let left = after;
  const cut = () => new StoreError("ServiceUnavailable", { detail: "cut off" });
  return {
    blobs,
    records: {
      ...records,
      async commit(bucket, change) {
        if (left-- > 0) return records.commit(bucket, change);
        if (when === "after" && left === -1) await records.commit(bucket, change);
        throw cut();
      },
    },
  };
}

test("a copy that is interrupted at any commit resumes where it stopped", async () => {
  const from = await filledMemory();
  const reopened = async (to: Ports) => to;
  for (const when of ["before", "after"] as const) {
    for (let after = 0; await resumes(from, memory(), { after, when, reopened }); after++);
  }
});

test("an interrupted copy into a data directory can be resumed and leaves no unused files", async (t) => {
  const from = await filledMemory();
  for (const [after, when] of [
    [2, "before"],
    [11, "after"],
    [17, "after"],
  ] as const) {
    const directory = await temporaryDirectory(t);
    const reopened = async (to: Ports) => {
      await close(to);
      return openLocal(directory);
    };
    assert.ok(await resumes(from, await openLocal(directory), { after, when, reopened }));
    const to = await openLocal(directory);
    await assertSound(to);
    await close(to);
  }
});

interface Cut {
  readonly after: number;
  readonly when: "before" | "after";
  reopened(to: Ports): Promise<Ports>;
}

/** Interrupts a copy and resumes it. Returns false if the copy ended before it was interrupted. */
async function resumes(from: Ports, first: Ports, { after, when, reopened }: Cut): Promise<boolean> {
  const isCut = await copy(from, cutOff(first, after, when), { concurrency: 1 }).then(
    () => false,
    (error: StoreError) => error.detail === "cut off",
  );
  assert.equal(await unfinishedCopy(first), isCut ? "the source" : undefined);
  if (!isCut) return false;
  const to = await reopened(first);
  const isThere = (await to.records.bucket("photos")) !== undefined;
  const brought = isThere ? (await to.records.totals("photos")).objects : 0;
  const { report } = await copy(from, to);
  const { objects } = await from.records.totals("photos");
  assert.equal(report.copiedObjects, objects - brought, `${when} ${after}`);
  assert.deepEqual(await contentsOf(to), await contentsOf(from));
  await close(to);
  return true;
}

async function close({ records, blobs }: Ports): Promise<void> {
  await records.close();
  await blobs.close();
}

test("the copy of an object with parts resumes after the last copied part", async () => {
  const from = await filledMemory();
  const to = memory();
  const isCut = { parts: 0 };
  const cutting: Ports = {
    records: to.records,
    blobs: {
      ...to.blobs,
      async stage(bucket, chunks) {
        const staged = await to.blobs.stage(bucket, chunks);
        if (staged.size === 70_000 && ++isCut.parts === 2) {
          await staged.discard();
          throw new StoreError("ServiceUnavailable", { detail: "cut off" });
        }
        return staged;
      },
    },
  };
  await assert.rejects(copy(from, cutting, { concurrency: 1 }), /cut off/);
  let staged = 0;
  const counting: Ports = {
    records: to.records,
    blobs: {
      ...to.blobs,
      stage(bucket, chunks) {
        staged++;
        return to.blobs.stage(bucket, chunks);
      },
    },
  };
  await copy(from, counting, { concurrency: 1 });
  // The resumed copy stages all blobs except the first part, which was already copied.
  assert.equal(staged, (await blobCount(to)) - 1);
  assert.deepEqual(await contentsOf(to), await contentsOf(from));
});

async function blobCount({ blobs }: Ports): Promise<number> {
  let count = 0;
  for await (const _ of blobs.all("photos")) count++;
  return count;
}

test("a resumed copy contains the changes of the source since the interruption", async () => {
  const from = await filledMemory();
  const to = memory();
  await assert.rejects(copy(from, cutOff(to, 12, "before")), /cut off/);
  const engine = createEngine(from);
  await engine.put("photos", "\u{10000}", sampleBytes(8));
  await engine.delete("photos", ["a/../b", "large"]);
  await engine.deleteBucket("empty");
  await engine.createBucket("empty");
  await engine.createBucket("new");
  await from.records.documents.delete("secret", "a secret");
  const { findings } = await copy(from, to);
  assert.deepEqual(findings, []);
  assert.deepEqual(await contentsOf(to), await contentsOf(from));
});

test("copying to a target with data, a partial copy of another store or a finished copy is refused", async () => {
  const from = await filledMemory();
  const used = await filledMemory();
  const before = await contentsOf(used);
  await assert.rejects(copy(from, used), /not empty: it holds the bucket "empty"/);
  assert.deepEqual(await contentsOf(used), before);
  const noted = memory();
  await noted.records.documents.put("credential", "KEY", "text", undefined);
  await assert.rejects(copy(from, noted), /not empty: it holds the credential "KEY"/);

  const to = memory();
  await assert.rejects(copy(from, cutOff(to, 5, "before")), /cut off/);
  await assert.rejects(
    copy(from, to, { source: "another" }),
    /beginning of a copy of another store, the source/,
  );
  await copy(from, to);
  const error = await copy(from, to).catch((reason: unknown) => reason);
  assert.ok(error instanceof CopyError);
  assert.match(error.message, /completed at 20/);
  assert.deepEqual((await copy(from, to, { only: "verify" })).findings, []);
});

test("an object that is damaged in the source is reported by key, and all other objects are copied", async (t) => {
  const directory = await temporaryDirectory(t);
  const from = await openLocal(directory);
  t.after(() => close(from));
  await fill(from);
  const large = blobFiles(directory).find(({ path }) => statSync(path).size > 300_000)!;
  const bytes = await readFile(large.path);
  bytes[100_000]! ^= 1;
  await writeFile(large.path, bytes);
  const to = memory();
  const { report, findings } = await copy(from, to);
  assert.deepEqual(
    findings.map(({ kind, bucket, key }) => ({ kind, bucket, key })),
    [{ kind: "damaged", bucket: "photos", key: "large" }],
  );
  assert.equal(report.objects, (await from.records.totals("photos")).objects - 1);
  assert.equal(await to.records.object("photos", "large"), undefined);
  assert.equal(await unfinishedCopy(to), undefined);
});

test("objects that differ between a copy and its source are reported by key, and the copy cannot be opened", async () => {
  const from = await filledMemory();
  const to = memory();
  const tampered = tamperer(to);
  const { report, findings } = await copy(from, tampered, { concurrency: 1 });
  const whatByKey = Object.fromEntries(findings.map(({ key, what }) => [key ?? "(beside)", what]));
  assert.deepEqual(whatByKey, {
    large: "Its bytes are not the same.",
    "in parts": "Its bytes are not the same.",
    "sealed large": "Its bytes are not the same.",
    small: "Its metadata is not the same.",
    ü: "It is not in the target.",
    "not there": "It is not in the source.",
  });
  assert.equal(report.differences, 6);
  assert.equal(await unfinishedCopy(to), "the source");
});

const storedSize = sealedSize(sealedBody.length, limits.blockBytes);

/** Returns a defective target that changes the data it stores. */
function tamperer({ records, blobs }: Ports): Ports {
  return {
    records: {
      ...records,
      async commit(bucket, change) {
        for (const mutation of change.mutations) {
          if (mutation.kind !== "put object") continue;
          const { record } = mutation;
          if (record.key === "ü") return "committed";
          const changed = record.key === "small" ? { ...record, storageClass: "Standard" as const } : record;
          const extra = { ...mutation, record: { ...record, key: "not there" } };
          const mutations = [{ ...mutation, record: changed }, ...(record.key === "small" ? [extra] : [])];
          return records.commit(bucket, { mutations: [...mutations, ...change.mutations.slice(1)] });
        }
        return records.commit(bucket, change);
      },
    },
    blobs: {
      ...blobs,
      stage: (bucket, chunks) =>
        blobs.stage(
          bucket,
          (async function* () {
            for await (const chunk of chunks) {
              const bytes = new Uint8Array(chunk);
              // Only bodies with these sizes are changed; incomplete uploads and encrypted parts
              // have other sizes.
              if ([300_000, 10, storedSize].includes(bytes.length)) bytes[3]! ^= 1;
              yield bytes;
            }
          })(),
        ),
    },
  };
}

test("an aborted copy ends immediately and can be resumed", async () => {
  const from = await filledMemory();
  const to = memory();
  const controller = new AbortController();
  let seen = 0;
  const progress = {
    expect() {},
    advance: () => {
      if (++seen === 5) controller.abort(new Error("interrupted"));
    },
  };
  await assert.rejects(copy(from, to, { signal: controller.signal, progress }), /interrupted/);
  const { findings } = await copy(from, to);
  assert.deepEqual(findings, []);
  assert.deepEqual(await contentsOf(to), await contentsOf(from));
});

test("every kind of document in src is in the list of copied kinds or in the list of excluded kinds", () => {
  const source = join(root, "src");
  // Proofs have documents only in stores of their own.
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && !name.startsWith("prove/"),
  );
  const texts = files.map((name) => readFileSync(join(source, name), "utf8"));
  const kinds = texts
    .filter((text) => /\bdocuments\b/.test(text))
    .flatMap((text) => [
      ...text.matchAll(/^const (?:kind|\w+Kind) = "([^"]+)"/gm),
      ...text.matchAll(/documents\.(?:put|get|list|delete)\("([^"]+)"/g),
    ])
    .map(([, kind]) => kind!);
  assert.deepEqual([...new Set(kinds)].sort(), [...copiedKinds, ...uncopiedKinds].sort());
});
