// Measures the memory of open streams: gets after the first chunk, and puts of incomplete bodies.
import { setTimeout } from "node:timers/promises";
import type { StoreBucket } from "../../src/index.ts";
import { KiB, present } from "../section.ts";

/** Streams opened at a time. More would leave garbage that the process keeps, but no stream holds. */
const openedAtOnce = 16;

/** Returns the KiB of memory per open stream. Opens and closes some streams first, as a warm-up. */
export async function holdStreams(
  bucket: StoreBucket,
  which: "get" | "put",
  streams: number,
): Promise<number> {
  const hold = which === "get" ? holdGet : holdPut;
  const open = (first: number, count: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => hold(bucket, first + index)));
  for (const release of await open(0, openedAtOnce)) await release();
  const before = await resting();
  const held: (() => Promise<unknown>)[] = [];
  while (held.length < streams) {
    held.push(...(await open(held.length, Math.min(openedAtOnce, streams - held.length))));
    await resting();
  }
  const after = await resting();
  await Promise.all(held.map((release) => release()));
  return (after - before) / KiB / streams;
}

/** Memory of the process after a collection. V8 frees buffers in the background, hence the second. */
async function resting(): Promise<number> {
  globalThis.gc?.();
  await setTimeout(20);
  globalThis.gc?.();
  return process.memoryUsage.rss();
}

async function holdGet(bucket: StoreBucket): Promise<() => Promise<unknown>> {
  const reader = present(await bucket.get("held"), "the object").body.getReader();
  await reader.read();
  return () => reader.cancel();
}

const chunk = Buffer.alloc(64 * KiB, 1);
/** Number of chunks to send: more than a put buffers in memory, so that the put opens its file. */
const chunksFirst = 4;

async function holdPut(bucket: StoreBucket, index: number): Promise<() => Promise<unknown>> {
  let taken = 0;
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  let begun = () => {};
  const hasBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const source = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (taken++ < chunksFirst) return controller.enqueue(chunk);
        begun();
        await ended;
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const done = bucket.put(`held-${index}`, source);
  await Promise.race([hasBegun, done]);
  return () => {
    end();
    return done;
  };
}
