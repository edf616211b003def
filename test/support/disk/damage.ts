// Damages files as a failing disk does, and checks that reads return the right bytes or an error.
import { type StoreBucket, StoreError, type StoreRange } from "../../../src/index.ts";
import { flipByte } from "../../../src/prove/rot/flip-byte.ts";
import { bytesOf, type Value } from "../bodies.ts";
import { assertBytes } from "../bytes.ts";

export interface Stored {
  readonly key: string;
  readonly value: Value;
  readonly ssecKey?: string;
}

export async function store(bucket: StoreBucket, { key, value, ssecKey }: Stored): Promise<void> {
  await bucket.put(key, bytesOf(key, value), { ssecKey });
}

/** Stores the object in three parts, the last of them smaller. */
export async function storeParts(bucket: StoreBucket, { key, value, ssecKey }: Stored): Promise<void> {
  const bytes = bytesOf(key, value);
  const size = Math.floor(bytes.length / 2) - 1;
  const upload = await bucket.createMultipartUpload(key, { ssecKey });
  const parts = [];
  for (let at = 0; at < bytes.length; at += size) {
    parts.push(await upload.uploadPart(parts.length + 1, bytes.subarray(at, at + size), { ssecKey }));
  }
  await upload.complete(parts);
}

export interface Flip {
  readonly path: string;
  readonly offset: number;
  readonly bit: number;
}

/** Flips one bit; a second call restores it. */
export function flipBit({ path, offset, bit }: Flip): void {
  flipByte({ path, offset, mask: 1 << bit });
}

export type Outcome = "right" | "refused" | "missing";

/** Returns the outcome of a get. Wrong bytes and any error except a StoreError fail the test. */
export async function read(
  bucket: StoreBucket,
  { key, value, ssecKey }: Stored,
  range?: StoreRange,
): Promise<Outcome> {
  const all = bytesOf(key, value);
  const expected = range === undefined ? all : slice(all, range);
  try {
    const found = await bucket.get(key, { range, ssecKey });
    if (found === null) return "missing";
    assertBytes(await found.bytes(), expected, `${describe(key, range)}, by bytes()`);
    const again = await bucket.get(key, { range, ssecKey });
    assertBytes(await streamed(again!.body), expected, `${describe(key, range)}, by its stream`);
    return "right";
  } catch (error) {
    if (error instanceof StoreError) return "refused";
    throw error;
  }
}

function describe(key: string, range: StoreRange | undefined): string {
  return range === undefined ? `the whole of "${key}"` : `${JSON.stringify(range)} of "${key}"`;
}

function slice(bytes: Buffer, range: StoreRange): Buffer {
  if ("suffix" in range) return bytes.subarray(Math.max(0, bytes.length - range.suffix));
  const offset = range.offset ?? 0;
  return bytes.subarray(offset, range.length === undefined ? undefined : offset + range.length);
}

async function streamed(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
