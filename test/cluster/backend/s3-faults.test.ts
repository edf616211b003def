// The shelf on an S3 service behind a network that fails: an error in time or the right bytes, never a hang.
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
  /** Through the proxy. Gives up soon, or only after far longer than any test takes. */
  open(patience: keyof typeof times, cut?: PieceLimits): Promise<BlobBackend>;
}

const pieces = { maxBlocks: 4, minBlocks: 4, bytes: 16 * 1024 * 1024 };
const times = {
  short: { connect: 1000, answer: 1000, idle: 1000, retry: 1500 },
  /** A silence is cut soon, and tried again for long. */
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
      const shelf = await openBlobBackend(url, { times: times[patience], pieces: cut });
      t.after(() => shelf.close());
      return shelf;
    },
  };
}

const unreachable = {
  reason: "ServiceUnavailable",
  message: /^The S3 service at 127\.0\.0\.1:\d+ of the blob backend cannot be reached or used: /,
};

function everything(
  shelf: BlobBackend,
  blob: Awaited<ReturnType<typeof write>>,
): Record<string, () => Promise<unknown>> {
  return {
    write: () => write(shelf, sampleBytes(300_000), newPlace(blob.bucket)),
    read: () => read(shelf, blob),
    has: () => shelf.has(blob),
    remove: () => shelf.remove(blob),
    removeRemains: () => shelf.removeLeftovers(blob),
    all: () => toArray(shelf.all(blob.bucket)),
  };
}

test("a service that refuses connections is told in time, and used again once it is back", async (t) => {
  const { proxy, open } = await faultScene(t);
  const shelf = await open("short");
  const bytes = sampleBytes(1_000_000);
  const blob = await write(shelf, bytes);
  await proxy.refuse();
  await Promise.all(
    Object.entries(everything(shelf, blob)).map(([what, run]) =>
      assert.rejects(run(), { ...unreachable, message: /ECONNREFUSED/ }, what),
    ),
  );
  await assert.rejects(open("short"), unreachable);
  await proxy.accept();
  assertBytes(await read(shelf, blob), bytes);
});

test("a service that falls silent before its answer, or within it, is told in time", async (t) => {
  const { proxy, open } = await faultScene(t);
  const shelf = await open("short");
  const blob = await write(shelf, sampleBytes(1_000_000));
  const faults: Fault[] = [{ kind: "silent" }, { kind: "silent within", after: 10 }];
  for (const fault of faults) {
    proxy.planAlways(fault);
    await Promise.all(
      Object.entries(everything(shelf, blob)).map(([what, run]) =>
        assert.rejects(run(), unreachable, `${fault.kind}: ${what}`),
      ),
    );
  }
});

test("a connection that is cut or silent, wherever, costs a retry and no byte", async (t) => {
  const { proxy, open } = await faultScene(t);
  const shelf = await open("long");
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
    // A short answer or request may end before the place of the fault: so it is planned for both.
    proxy.plan(fault);
    const blob = await write(shelf, bytes, place);
    // Whether what was sent first and lost will still arrive, nobody knows.
    if (proxy.happened > before) assert.equal(blob.isDoubtful, true);
    proxy.plan(fault);
    assertBytes(await read(shelf, blob), bytes, `${fault.kind} at ${"after" in fault ? fault.after : 0}`);
    assert(proxy.happened > before, `${fault.kind} happened`);
    proxy.plan({ kind: "cut answer", after: 0 });
    assert.equal(await shelf.has(blob), true);
    proxy.plan({ kind: "cut answer", after: 0 }, { kind: "cut answer", after: 0 });
    await shelf.remove(blob);
    assert.deepEqual(await toArray(shelf.all(blob.bucket)), []);
  }
});

test("a read goes on through one cut after the other, as long as each brings bytes", async (t) => {
  const { proxy, open } = await faultScene(t);
  const shelf = await open("long");
  const bytes = sampleBytes(1_000_000);
  const blob = await write(shelf, bytes);
  proxy.planAlways({ kind: "cut answer", after: 100_000 });
  const into = new Uint8Array(bytes.length);
  for await (const _ of shelf.read(blob, { offset: 0, length: bytes.length }, into));
  assertBytes(into, bytes);
  assert(proxy.happened >= 10);
});

test("a slow service is waited for as long as bytes come", async (t) => {
  const { proxy, open } = await faultScene(t);
  const shelf = await open("long");
  const bytes = sampleBytes(300_000);
  const blob = await write(shelf, bytes);
  proxy.planAlways({ kind: "slow answer", drop: 997 });
  assertBytes(await read(shelf, blob), bytes);
  assert.equal(await shelf.has(blob), true);
  assert.deepEqual(await toArray(shelf.all(blob.bucket)), [blob]);
  assert(proxy.happened >= 3);
});

test("bytes damaged on the way are never stored and never returned", async (t) => {
  const { proxy, open } = await faultScene(t);
  const shelf = await open("long");
  const bytes = sampleBytes(100_000);
  proxy.plan({ kind: "flip request", at: 50_000 });
  const blob = await write(shelf, bytes);
  assert.equal(proxy.happened, 1);
  assertBytes(await read(shelf, blob), bytes);
  proxy.plan({ kind: "flip answer", at: 50_000 });
  await assert.rejects(read(shelf, blob), /The stored data is damaged: block 0 /);
  assertBytes(await read(shelf, blob), bytes);
});

test("a reader that takes its time is not taken for a silent service", async (t) => {
  const { open } = await faultScene(t);
  const shelf = await open("long", defaultPieceLimits);
  const bytes = sampleBytes(4_000_000);
  const blob = await write(shelf, bytes);
  const reading = shelf.read(blob, { offset: 0, length: bytes.length });
  const found = [(await reading.next()).value!];
  // Longer than a service may be silent.
  await new Promise((resolve) => setTimeout(resolve, 2 * times.long.idle));
  for await (const chunk of reading) found.push(chunk);
  assertBytes(Buffer.concat(found), bytes);
});

test("a reader that leaves early gives up its request", async (t) => {
  const { proxy, open } = await faultScene(t);
  const shelf = await open("long", defaultPieceLimits);
  const blob = await write(shelf, sampleBytes(4_000_000));
  proxy.plan();
  await proxy.untilLeft();
  const reading = shelf.read(blob, { offset: 0, length: blob.size });
  assert.equal((await reading.next()).done, false);
  await reading.return(undefined);
  await proxy.untilLeft();
});

test("a shelf that is closed while its service is silent holds nobody up", async (t) => {
  const { service, proxy } = await faultScene(t);
  const url = service.shelfUrl({ port: proxy.port });
  const shelf = await openBlobBackend(url, {
    times: { answer: 3_600_000, idle: 3_600_000, retry: 3_600_000 },
  });
  const blob = await write(shelf, sampleBytes(100));
  proxy.planAlways({ kind: "silent" });
  const reading = assert.rejects(read(shelf, blob), { reason: "ServiceUnavailable" });
  await proxy.untilHappened(1);
  await shelf.close();
  await reading;
});
