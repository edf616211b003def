// Measures the memory of open streams: gets after the first chunk, and puts of incomplete bodies.
import type { StoreBucket } from "../../src/index.ts";
import { KiB, present } from "../section.ts";

/** Returns the KiB of memory per open stream. Opens and closes one stream first, as a warm-up. */
export async function holdStreams(
  bucket: StoreBucket,
  which: "get" | "put",
  streams: number,
): Promise<number> {
  const hold = which === "get" ? holdGet : holdPut;
  await (await hold(bucket, 0))();
  const before = resting();
  const held = await Promise.all(Array.from({ length: streams }, (_, index) => hold(bucket, index)));
  const after = resting();
  await Promise.all(held.map((release) => release()));
  return (after - before) / KiB / streams;
}

function resting(): number {
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
