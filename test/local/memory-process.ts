// A process that measures its memory while it writes and reads bodies, and the file descriptors
// that stay open.
import { closeSync, openSync, readdirSync, readlinkSync } from "node:fs";
import { openStore, type Store, type StoreBucket, StoreError } from "../../src/index.ts";
import { bytesOf, KiB, MiB, streamOf } from "../support/bodies.ts";
import { mockTimeouts } from "../support/mock-timeouts.ts";

export type Measurement =
  | { readonly of: "one stream"; readonly bytes: number }
  | { readonly of: "many streams"; readonly streams: number; readonly bytes: number }
  | { readonly of: "bodies"; readonly left: "cancelled" | "unread" | "half read" | "half read in parts" }
  | { readonly of: "aborted puts"; readonly times: number }
  | { readonly of: "a deleted bucket" | "a closed store" }
  | { readonly of: "no descriptors" };

/** The increase of memory, in bytes, while bodies were written and read. */
export interface Memory {
  readonly put: number;
  readonly get: number;
}

/** Files of the store that the process had open at the start and at the end. */
export interface Descriptors {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Error codes while no file descriptor is free, and when some are free again; 0 is success. */
export interface Codes {
  readonly without: readonly number[];
  readonly again: readonly number[];
}

const { directory, measurement } = JSON.parse(process.argv[2]!) as {
  directory: string;
  measurement: Measurement;
};
// Simulate the clock: an unread body is closed only after a timeout.
const timeouts = measurement.of === "bodies" && measurement.left === "unread" ? mockTimeouts() : undefined;
const name = "measured";
const store = await openStore(directory);
await store.createBucket(name);
process.send!(await measure(measurement, store, store.bucket(name)));
process.disconnect();

async function measure(
  wanted: Measurement,
  store: Store,
  bucket: StoreBucket,
): Promise<Memory | Descriptors | Codes> {
  switch (wanted.of) {
    case "one stream":
      return memoryOf(bucket, 1, wanted.bytes);
    case "many streams":
      return memoryOf(bucket, wanted.streams, wanted.bytes);
    case "bodies":
      return leaveBodies(bucket, wanted.left);
    case "aborted puts":
      return abortPuts(bucket, wanted.times);
    case "a deleted bucket":
      return deleteBucket(store);
    case "no descriptors":
      return useUpDescriptors(store);
    case "a closed store":
      await bucket.put("key", "value");
      await (await bucket.get("key"))!.text();
      await store.close();
      return { before: [], after: await openFilesAfterCollection() };
  }
}

async function deleteBucket(store: Store): Promise<Descriptors> {
  const doomed = store.bucket("doomed");
  await store.createBucket("doomed");
  await doomed.put("key", bytesOf("key", { name: "1", size: 10 * KiB }));
  await (await doomed.get("key"))!.bytes();
  await doomed.delete("key");
  await store.deleteBucket("doomed");
  await store.close();
  return { before: [], after: await openFilesAfterCollection() };
}

/**
 * Collects garbage first: the driver closes a database file when its last statement is collected.
 */
async function openFilesAfterCollection(): Promise<string[]> {
  for (let turn = 0; turn < 10; turn++) {
    gc!();
    await new Promise(setImmediate);
  }
  return openFiles();
}

async function useUpDescriptors(store: Store): Promise<Codes> {
  await store.createBucket("closed");
  const bucket = store.bucket("closed");
  const codes = async () => {
    const attempts = [() => bucket.head("key"), () => bucket.put("key", "value")];
    return Promise.all(attempts.map((attempt) => attempt().then(() => 0, codeOf)));
  };
  const held: number[] = [];
  try {
    for (;;) held.push(openSync("/dev/null", "r"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EMFILE") throw error;
  }
  const without = await codes();
  for (const descriptor of held) closeSync(descriptor);
  return { without, again: await codes() };
}

function codeOf(error: unknown): number {
  return error instanceof StoreError ? error.code : Number.NaN;
}

async function memoryOf(bucket: StoreBucket, streams: number, bytes: number): Promise<Memory> {
  const chunk = Buffer.alloc(64 * KiB, "some bytes ");
  const keys = Array.from({ length: streams }, (_, i) => `stream ${i}`);
  const put = (key: string, size: number) => bucket.put(key, repeated(chunk, size));
  const get = async (key: string) => {
    let size = 0;
    for await (const part of (await bucket.get(key))!.body) size += part.length;
    return size;
  };
  // A warm-up run, so that compiled code and buffer pools are not counted.
  await put("warm", 8 * MiB);
  await get("warm");
  return {
    put: await peakOf(() => Promise.all(keys.map((key) => put(key, bytes)))),
    get: await peakOf(async () => {
      const sizes = await Promise.all(keys.map(get));
      if (sizes.some((size) => size !== bytes)) throw new Error("a body has the wrong size");
    }),
  };
}

function repeated(chunk: Uint8Array, size: number): ReadableStream<Uint8Array> {
  let left = size;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.enqueue(chunk.subarray(0, Math.min(left, chunk.length)));
        left -= Math.min(left, chunk.length);
        if (left === 0) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

async function peakOf(work: () => Promise<unknown>): Promise<number> {
  gc!();
  const start = process.memoryUsage.rss();
  let peak = start;
  const sampler = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 2);
  await work();
  clearInterval(sampler);
  return peak - start;
}

/** Returns the files of the store that this process has open. */
function openFiles(): string[] {
  return readdirSync("/proc/self/fd")
    .map((descriptor) => {
      try {
        return readlinkSync(`/proc/self/fd/${descriptor}`);
      } catch {
        // The descriptor of this directory listing is already closed.
        return "";
      }
    })
    .filter((path) => path.startsWith(directory))
    .map((path) => path.slice(directory.length + 1))
    .sort();
}

/** Returns only open blob files, since databases close their files later. */
function openBlobs(): string[] {
  return openFiles().filter((path) => path.includes("/blobs/"));
}

async function leaveBodies(
  bucket: StoreBucket,
  left: Extract<Measurement, { of: "bodies" }>["left"],
): Promise<Descriptors> {
  const bytes = bytesOf("body", { name: "1", size: 3 * MiB });
  if (left === "half read in parts") {
    const upload = await bucket.createMultipartUpload("body");
    const parts = [];
    for (let i = 0; i < 3; i++) {
      parts.push(await upload.uploadPart(i + 1, bytes.subarray(i * MiB, (i + 1) * MiB)));
    }
    await upload.complete(parts);
  } else {
    await bucket.put("body", bytes);
  }
  await (await bucket.get("body"))!.bytes();
  const before = openBlobs();
  for (let i = 0; i < 20; i++) await leaveOne(bucket, left);
  if (openBlobs().length === before.length && left === "unread") throw new Error("no body held its file");
  if (left === "unread") timeouts?.tick(60_001);
  for (let turn = 0; turn < 10; turn++) {
    gc!();
    // Finalizers run one turn after the collection.
    await new Promise(setImmediate);
  }
  return { before, after: openBlobs() };
}

async function leaveOne(bucket: StoreBucket, left: string): Promise<void> {
  const found = await bucket.get("body");
  if (left === "cancelled") await found!.body.cancel();
  else if (left !== "unread") await found!.body.getReader().read();
}

async function abortPuts(bucket: StoreBucket, times: number): Promise<Descriptors> {
  const bytes = bytesOf("aborted", { name: "1", size: 200 * KiB });
  await bucket.put("kept", bytes);
  const before = openBlobs();
  for (let done = 0; done < times; done += 50) {
    await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const before = (offset: number) => {
          if (offset >= (i % 3) * 64 * KiB) throw new Error("the sender is gone");
        };
        const outcome = await bucket.put("aborted", streamOf(bytes, { before })).catch(String);
        if (outcome !== "Error: the sender is gone") throw new Error(`not aborted: ${String(outcome)}`);
      }),
    );
  }
  return { before, after: openBlobs() };
}
