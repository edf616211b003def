// Large objects: multipart uploads, bounded memory, and no leftovers after an interruption.
import assert from "node:assert/strict";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdir, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { test } from "node:test";
import { createByteReader } from "../../../src/cli/transfer/byte-reader.ts";
import { partBytesFor, uploadParts } from "../../../src/cli/transfer/upload.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { limits } from "../../../src/model/limits.ts";
import { openEngine } from "../../../src/open.ts";
import { collect, inChunks, sampleBytes } from "../../support/bytes.ts";
import { assertNothingLeftOver } from "../../support/disk/on-disk.ts";
import { garbageBytes } from "../../support/process-tree.ts";
import { openShellWithBucket, outcomeOf, type Shell } from "../store.ts";

const MiB = 1024 * 1024;

/** Makes the process print its peak memory at exit. */
const measured = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    'process.on("exit",()=>process.stderr.write("peak "+process.resourceUsage().maxRSS+"\\n"))',
  )}`,
};

function peakMiB(stderr: string): number {
  return Number(/^peak (\d+)$/m.exec(stderr)?.[1]) / 1024;
}

/** Generates `size` bytes. Every chunk differs, so that a lost or repeated chunk is detected. */
function* someBytes(size: number): Generator<Uint8Array> {
  const chunk = sampleBytes(MiB);
  for (let sent = 0; sent < size; sent += MiB) {
    const copy = Buffer.from(chunk.subarray(0, Math.min(MiB, size - sent)));
    copy.writeUInt32LE(sent / MiB);
    yield copy;
  }
}

async function engineOf<T>({ directory }: Shell, work: (engine: Engine) => Promise<T>): Promise<T> {
  const { engine } = await openEngine(join(directory, ".store"));
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

test("an object of 300 MiB is uploaded from stdin in parts and downloaded to stdout in bounded memory", async (t) => {
  const shell = await openShellWithBucket(t);
  const size = 300 * MiB;
  const sent = createHash("sha256");
  const put = shell.start(["object", "put", "photos/big", "-"], { environment: measured });
  const stored = outcomeOf(put);
  await pipeline(async function* () {
    for (const chunk of someBytes(size)) {
      sent.update(chunk);
      yield chunk;
    }
  }, put.stdin);
  const { code, stdout, stderr } = await stored;
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^Uploaded photos\/big: 314572800 bytes, etag [0-9a-f]{32}-\d+\n$/,
    "the object was uploaded in parts",
  );

  const get = shell.start(["object", "get", "photos/big"], { environment: measured });
  const told = collect(get.stderr);
  const received = createHash("sha256");
  for await (const chunk of get.stdout) received.update(chunk);
  assert.equal(received.digest("hex"), sent.digest("hex"));
  const [putPeak, getPeak] = [peakMiB(stderr), peakMiB((await told).toString())];
  t.diagnostic(`peak memory: put ${putPeak.toFixed(0)} MiB, get ${getPeak.toFixed(0)} MiB`);
  // Node needs about 70 MiB; a put from stdin buffers 64 MiB before it starts a multipart upload.
  assert.ok(putPeak < 240 + garbageBytes / MiB, `put took ${putPeak} MiB`);
  assert.ok(getPeak < 160 + garbageBytes / MiB, `get took ${getPeak} MiB`);
});

test("a file above 100 MiB is uploaded in parts, a file of 100 MiB with a single put", async (t) => {
  const shell = await openShellWithBucket(t);
  const file = join(shell.directory, "sparse");
  const etag = async (size: number) => {
    await writeFile(file, "");
    await truncate(file, size);
    const { stdout, stderr } = await shell.run(["object", "put", "photos/a", "sparse", "--json"], {
      environment: measured,
    });
    assert.ok(peakMiB(stderr) < 160 + garbageBytes / MiB, `put took ${peakMiB(stderr)} MiB`);
    return (JSON.parse(stdout) as { etag: string; size: number }).etag;
  };
  assert.match(await etag(100 * MiB), /^[0-9a-f]{32}$/);
  assert.match(await etag(100 * MiB + 1), /^[0-9a-f]{32}-2$/, "64 MiB and the rest");
});

test("the part size is large enough for objects of any size in at most 10,000 parts", () => {
  for (const size of [
    1,
    100 * MiB,
    640_000 * MiB,
    640_000 * MiB + 1,
    limits.objectBytes - 1,
    limits.objectBytes,
  ]) {
    const part = partBytesFor(size);
    assert.ok(part * limits.partNumber >= size, `${size} bytes fit`);
    assert.ok(part <= limits.singleWriteBytes && part >= limits.s3PartBytes && Number.isInteger(part));
  }
});

test("uploaded parts have the same size for any chunk sizes of the input, and together equal the input", async (t) => {
  const { engine } = await openEngine("memory:");
  t.after(() => engine.close());
  await engine.createBucket("photos");
  const { signal } = new AbortController();
  const given = { engine, to: { bucket: "photos", key: "a" }, options: {}, signal, onBytes() {} };
  for (const length of [1000, 999, 1001, 5000, 12_345]) {
    for (const chunkSize of [1, 7, 1000, 4096, 100_000]) {
      const bytes = sampleBytes(length);
      for (const size of [undefined, length]) {
        const chunks = inChunks(bytes, chunkSize);
        const reader = createByteReader(chunks, signal);
        const { etag } = await uploadParts({ ...given, chunks, size }, reader, 1000, size);
        assert.ok(etag.endsWith(`-${Math.ceil(length / 1000)}`), etag);
        const got = await engine.get("photos", "a");
        assert.ok(got.outcome === "found" && bytes.equals(await collect(got.bytes.chunks())));
      }
    }
  }
});

/** Sends bytes without ending the stream; resolves once the process has read nearly all of them. */
async function sendAndStall(child: ChildProcessWithoutNullStreams, size: number): Promise<void> {
  child.stdin.on("error", () => {});
  for (const chunk of someBytes(size)) if (!child.stdin.write(chunk)) await once(child.stdin, "drain");
}

for (const [name, size] of [
  ["while its bytes are buffered", 2],
  ["while its parts are uploaded", 80],
] as const) {
  test(`SIGINT ends an upload from stdin ${name}, and the upload leaves no data`, async (t) => {
    const shell = await openShellWithBucket(t);
    const child = shell.start(["object", "put", "photos/big", "-"]);
    const outcome = outcomeOf(child);
    await sendAndStall(child, size * MiB);
    child.kill("SIGINT");
    const { code, stdout, stderr } = await outcome;
    assert.deepEqual([code, stdout, stderr], ["SIGINT", "", ""]);
    await assertEmpty(shell);
  });
}

test("SIGTERM ends the upload of a file, and the upload leaves no data", async (t) => {
  const shell = await openShellWithBucket(t);
  await writeFile(join(shell.directory, "big"), "");
  await truncate(join(shell.directory, "big"), 3000 * MiB);
  const child = shell.start(["object", "put", "photos/big", "big"]);
  const outcome = outcomeOf(child);
  await blobOf(shell);
  child.kill("SIGTERM");
  assert.deepEqual(await outcome, { code: "SIGTERM", stdout: "", stderr: "" });
  await assertEmpty(shell);
});

test("object put does not store a file that shrinks while it is read", async (t) => {
  const shell = await openShellWithBucket(t);
  const file = join(shell.directory, "big");
  await writeFile(file, "");
  await truncate(file, 2000 * MiB);
  const child = shell.start(["object", "put", "photos/big", "big"]);
  const outcome = outcomeOf(child);
  await blobOf(shell);
  await truncate(file, 1);
  const { code, stderr } = await outcome;
  assert.equal(code, 1);
  assert.match(stderr, /^error: The file changed while it was being read; nothing was stored\.$/m);
  await assertEmpty(shell);
});

test("a download that SIGINT interrupts leaves no file", async (t) => {
  const shell = await openShellWithBucket(t);
  await writeFile(join(shell.directory, "big"), "");
  await truncate(join(shell.directory, "big"), 300 * MiB);
  await shell.store("object", "put", "photos/big", "big");
  const child = shell.start(["object", "get", "photos/big", "copy"]);
  const outcome = outcomeOf(child);
  await until(async () => (await readdir(shell.directory)).some((name) => name.endsWith(".part")));
  child.kill("SIGINT");
  assert.equal((await outcome).code, "SIGINT");
  assert.deepEqual((await readdir(shell.directory)).sort(), [".store", "big"]);
});

async function assertEmpty(shell: Shell): Promise<void> {
  const report = await engineOf(shell, async (engine) => {
    assert.deepEqual((await engine.list("photos")).objects, []);
    return engine.sweep();
  });
  assert.deepEqual(
    report,
    {
      objectsExpired: 0,
      objectsMoved: 0,
      versionsExpired: 0,
      uploadsAborted: 0,
      uploadsForgotten: 0,
      blobsRemoved: 0,
    },
    "nothing was left to sweep",
  );
  assertNothingLeftOver(join(shell.directory, ".store"));
}

/** Resolves once the bucket's first blob contains bytes. */
async function blobOf({ directory }: Shell): Promise<void> {
  const buckets = join(directory, ".store", "buckets");
  await until(async () => {
    const names = await readdir(buckets, { recursive: true });
    const blob = names.find((name) => /\/blobs\/.*\/\d+$/.test(name));
    return blob !== undefined && (await stat(join(buckets, blob))).size > 0;
  });
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
}
