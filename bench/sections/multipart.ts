// Section "multipart": uploading parts by size and concurrency, complete, and get of the result.
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openStore, type StoreBucket, type StoreUploadedPart } from "../../src/index.ts";
import { drain } from "../bodies.ts";
import { fileReads, fileWrites, groupAppend, md5Alone } from "../limits.ts";
import { forEach, milliseconds, perSecond } from "../measure.ts";
import { type Context, compare, KiB, MiB, present, type Section, unitOf, withinBound } from "../section.ts";

export const multipart: Section = {
  name: "multipart",
  description: "uploads in parts of 1 KiB to 64 MiB at 1 to 128 lanes, complete, and get of the object",
  run,
};

async function run(context: Context): Promise<void> {
  const { directory } = context;
  mkdirSync(join(directory, "raw"));
  mkdirSync(join(directory, "store"));
  const store = await openStore(join(directory, "store"));
  await store.createBucket("multipart");
  const bucket = store.bucket("multipart");
  for (const size of [KiB, 64 * KiB, MiB, 64 * MiB]) {
    const body = randomBytes(size);
    for (const lanes of context.pace.lanes) {
      if (!withinBound(context, size, lanes)) continue;
      await uploads({ context, bucket, body, lanes, sweep: () => store.sweep() });
    }
  }
  await completes(context, bucket);
  await reads(context, bucket);
  await store.close();
}

interface Uploads {
  readonly context: Context;
  readonly bucket: StoreBucket;
  readonly body: Buffer;
  readonly lanes: number;
  sweep(): Promise<unknown>;
}

/** Runs complete uploads one after another: create, upload parts, complete. Counts parts. */
async function uploads({ context, bucket, body, lanes, sweep }: Uploads): Promise<void> {
  const { seconds, bytes } = context.pace;
  const raw = join(context.directory, "raw");
  const size = body.length;
  const parts = Math.max(lanes, Math.min(context.quick ? 32 : 256, Math.floor(bytes / 4 / size)));
  const work = { lanes, seconds, operations: Math.floor(bytes / size) };
  const sequential = { lanes: 1, seconds, operations: Math.floor(bytes / size / parts) };
  await compare(context, {
    what: `upload in ${parts} part${parts === 1 ? "" : "s"}`,
    size,
    lanes,
    unit: unitOf(size),
    round: async () => {
      const rate = await perSecond(sequential, () => upload({ bucket, key: "upload", body, parts, lanes }));
      await sweep();
      return rate * parts;
    },
    limits: [
      size <= 4 * KiB ? groupAppend(raw, body, lanes, seconds) : fileWrites(raw, body, work),
      md5Alone(body, seconds),
    ],
  });
}

interface Upload {
  readonly bucket: StoreBucket;
  readonly key: string;
  readonly body: Buffer;
  readonly parts: number;
  readonly lanes: number;
}

async function upload(task: Upload): Promise<void> {
  const { complete } = await filled(task);
  await complete();
}

/** Creates an upload and uploads all its parts; the caller completes it. */
async function filled({ bucket, key, body, parts, lanes }: Upload) {
  const made = await bucket.createMultipartUpload(key);
  const uploaded: StoreUploadedPart[] = [];
  await forEach(parts, lanes, async (index) => {
    uploaded.push(await made.uploadPart(index + 1, body));
  });
  return { complete: () => made.complete(uploaded) };
}

async function completes(context: Context, bucket: StoreBucket): Promise<void> {
  const raw = join(context.directory, "raw");
  const parts = 1000;
  const hashes = randomBytes(16 * parts);
  const sync = groupAppend(raw, hashes, 1, 0);
  await compare(context, {
    what: "complete of 1,000 parts",
    unit: "ms",
    round: async () => {
      const ready = await filled({ bucket, key: "complete", body: Buffer.alloc(1, 1), parts, lanes: 64 });
      return milliseconds(ready.complete);
    },
    limits: [
      {
        name: "md5 + fdatasync",
        round: () =>
          milliseconds(async () => {
            createHash("md5").update(hashes).digest();
            await sync.round();
          }),
      },
    ],
  });
}

async function reads(context: Context, bucket: StoreBucket): Promise<void> {
  const { seconds } = context.pace;
  const size = 64 * MiB;
  const body = randomBytes(MiB);
  await upload({ bucket, key: "read", body, parts: 64, lanes: 4 });
  await compare(context, {
    what: "get of 64 parts, drained",
    size,
    lanes: 1,
    unit: "MiB/s",
    round: () =>
      perSecond({ lanes: 1, seconds }, async () => {
        const object = present(await bucket.get("read"), "an object");
        await drain(object.body, size);
      }),
    limits: [fileReads(join(context.directory, "raw"), Buffer.alloc(size, 1), 1, seconds)],
  });
}
