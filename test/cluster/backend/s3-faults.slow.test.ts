// The S3 blob backend on a failing network returns the correct bytes or an error within its
// timeout.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { BlobBackend } from "../../../src/cluster/backend/backend.ts";
import { defaultPieceLimits, type PieceLimits } from "../../../src/cluster/backend/s3/piece-buffer-pool.ts";
import { openBlobBackend } from "../../../src/cluster/open-backend.ts";
import { newPlace, read, write } from "../../contracts/blob-backend/setup.ts";
import { assertBytes, sampleBytes, toArray } from "../../support/bytes.ts";
import { type Fault, type FaultProxy, startFaultProxy } from "../../support/fault-proxy.ts";
import { type S3Service, startS3Service } from "../../support/s3-service.ts";

interface Scene {
  readonly service: S3Service;
  readonly proxy: FaultProxy;
  /** Opens the backend through the proxy, with short timeouts or timeouts longer than any test. */
  open(patience: keyof typeof times, cut?: PieceLimits): Promise<BlobBackend>;
}

const pieces = { maxBlocks: 4, minBlocks: 4, bytes: 16 * 1024 * 1024 };
const times = {
  short: { connect: 1000, answer: 1000, idle: 1000, retry: 1500 },
  /** A short idle timeout and a long retry period. */
  long: { connect: 5000, answer: 500, idle: 500, retry: 120_000 },
};

async function faultScene(t: TestContext): Promise<Scene> {
  const service = await startS3Service(t);
  const proxy = await startFaultProxy(t, service.port);
  const setUp = await openBlobBackend(service.shelfUrl(), { marker: "make" });
  await setUp.close();
  return {
    service,
    proxy,
    async open(patience, cut = pieces) {
      const url = service.shelfUrl({ port: proxy.port });
      const backend = await openBlobBackend(url, { times: times[patience], pieces: cut });
      t.after(() => backend.close());
      return backend;
    },
  };
}

const unreachable = {
  reason: "ServiceUnavailable",
  message: /^The S3 service at 127\.0\.0\.1:\d+ of the blob backend cannot be reached or used: /,
};

function everything(
  backend: BlobBackend,
  blob: Awaited<ReturnType<typeof write>>,
): Record<string, () => Promise<unknown>> {
  return {
    write: () => write(backend, sampleBytes(300_000), newPlace(blob.bucket)),
    read: () => read(backend, blob),
    has: () => backend.has(blob),
    remove: () => backend.remove(blob),
    removeLeftovers: () => backend.removeLeftovers(blob),
    all: () => toArray(backend.all(blob.bucket)),
  };
}

test("the S3 backend fails within its timeout while the service refuses connections, and recovers", async (t) => {
  const { proxy, open } = await faultScene(t);
  const backend = await open("short");
  const bytes = sampleBytes(1_000_000);
  const blob = await write(backend, bytes);
  await proxy.refuse();
  await Promise.all(
    Object.entries(everything(backend, blob)).map(([what, run]) =>
      assert.rejects(run(), { ...unreachable, message: /ECONNREFUSED/ }, what),
    ),
  );
  await assert.rejects(open("short"), unreachable);
  await proxy.accept();
  assertBytes(await read(backend, blob), bytes);
});

test("the S3 backend fails within its timeout if the service sends no response or only a part of it", async (t) => {
  const { proxy, open } = await faultScene(t);
  const backend = await open("short");
  const blob = await write(backend, sampleBytes(1_000_000));
  const faults: Fault[] = [{ kind: "silent" }, { kind: "silent within", after: 10 }];
  for (const fault of faults) {
    proxy.planAlways(fault);
    await Promise.all(
      Object.entries(everything(backend, blob)).map(([what, run]) =>
        assert.rejects(run(), unreachable, `${fault.kind}: ${what}`),
      ),
    );
  }
});

test("the S3 backend retries after a connection breaks or hangs at any byte, and loses no data", async (t) => {
  const { proxy, open } = await faultScene(t);
  const backend = await open("long");
  const bytes = sampleBytes(1_000_000);
  const faults: Fault[] = [
    { kind: "silent" },
    { kind: "silent within", after: 150_000 },
    { kind: "silent within", after: 30 },
    { kind: "cut answer", after: 0 },
    { kind: "cut answer", after: 30 },
    { kind: "cut answer", after: 1000 },
    { kind: "cut answer", after: 200_000 },
    { kind: "cut request", after: 0 },
    { kind: "cut request", after: 100 },
    { kind: "cut request", after: 100_000 },
  ];
  for (const fault of faults) {
    const before = proxy.happened;
    const place = newPlace();
    // The write may end before the fault's offset, so the fault is planned for the read too.
    proxy.plan(fault);
    const blob = await write(backend, bytes, place);
    // The first request was lost and may still arrive, so the blob is marked as doubtful.
    if (proxy.happened > before) assert.equal(blob.isDoubtful, true);
    proxy.plan(fault);
    assertBytes(await read(backend, blob), bytes, `${fault.kind} at ${"after" in fault ? fault.after : 0}`);
    assert(proxy.happened > before, `${fault.kind} happened`);
    proxy.plan({ kind: "cut answer", after: 0 });
    assert.equal(await backend.has(blob), true);
    proxy.plan({ kind: "cut answer", after: 0 }, { kind: "cut answer", after: 0 });
    await backend.remove(blob);
    assert.deepEqual(await toArray(backend.all(blob.bucket)), []);
  }
});

test("a read from the S3 backend resumes after each broken connection that delivered bytes", async (t) => {
  const { proxy, open } = await faultScene(t);
  const backend = await open("long");
  const bytes = sampleBytes(1_000_000);
  const blob = await write(backend, bytes);
  proxy.planAlways({ kind: "cut answer", after: 100_000 });
  const into = new Uint8Array(bytes.length);
  for await (const _ of backend.read(blob, { offset: 0, length: bytes.length }, into));
  assertBytes(into, bytes);
  assert(proxy.happened >= 10);
});

test("the S3 backend waits for a slow service as long as bytes arrive", async (t) => {
  const { proxy, open } = await faultScene(t);
  const backend = await open("long");
  const bytes = sampleBytes(300_000);
  const blob = await write(backend, bytes);
  proxy.planAlways({ kind: "slow answer", drop: 997 });
  assertBytes(await read(backend, blob), bytes);
  assert.equal(await backend.has(blob), true);
  assert.deepEqual(await toArray(backend.all(blob.bucket)), [blob]);
  assert(proxy.happened >= 3);
});

test("the S3 backend neither stores nor returns bytes damaged in transit", async (t) => {
  const { proxy, open } = await faultScene(t);
  const backend = await open("long");
  const bytes = sampleBytes(100_000);
  proxy.plan({ kind: "flip request", at: 50_000 });
  const blob = await write(backend, bytes);
  assert.equal(proxy.happened, 1);
  assertBytes(await read(backend, blob), bytes);
  proxy.plan({ kind: "flip answer", at: 50_000 });
  await assert.rejects(read(backend, blob), /The stored data is damaged: block 0 /);
  assertBytes(await read(backend, blob), bytes);
});

test("a slow reader of the S3 backend causes no timeout", async (t) => {
  const { open } = await faultScene(t);
  const backend = await open("long", defaultPieceLimits);
  const bytes = sampleBytes(4_000_000);
  const blob = await write(backend, bytes);
  const reading = backend.read(blob, { offset: 0, length: bytes.length });
  const found = [(await reading.next()).value!];
  // The pause is longer than the idle timeout of the backend.
  await new Promise((resolve) => setTimeout(resolve, 2 * times.long.idle));
  for await (const chunk of reading) found.push(chunk);
  assertBytes(Buffer.concat(found), bytes);
});

test("a reader that stops early cancels its request to the S3 service", async (t) => {
  const { proxy, open } = await faultScene(t);
  const backend = await open("long", defaultPieceLimits);
  const blob = await write(backend, sampleBytes(4_000_000));
  proxy.plan();
  await proxy.untilLeft();
  const reading = backend.read(blob, { offset: 0, length: blob.size });
  assert.equal((await reading.next()).done, false);
  await reading.return(undefined);
  await proxy.untilLeft();
});

test("closing the S3 backend while its service hangs ends the reads at once", async (t) => {
  const { service, proxy } = await faultScene(t);
  const url = service.shelfUrl({ port: proxy.port });
  const backend = await openBlobBackend(url, {
    times: { answer: 3_600_000, idle: 3_600_000, retry: 3_600_000 },
  });
  const blob = await write(backend, sampleBytes(100));
  proxy.planAlways({ kind: "silent" });
  const reading = assert.rejects(read(backend, blob), { reason: "ServiceUnavailable" });
  await proxy.untilHappened(1);
  await backend.close();
  await reading;
});
