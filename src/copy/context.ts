// What every part of a copy works with: the ports of both sides, where the progress goes, and what was found so far.

import type { BlobReader, Blobs, StoredBlob } from "../engine/blobs.ts";
import type { Records } from "../engine/records.ts";
import { CopyError, type CopyFinding, type CopyWork } from "../model/copy.ts";
import { StoreError } from "../model/errors.ts";
import type { Key } from "../model/key.ts";

export interface Side {
  readonly records: Records;
  readonly blobs: Blobs;
}

export interface Copying {
  readonly from: Side;
  readonly to: Side;
  readonly signal: AbortSignal | undefined;
  readonly now: () => number;
  /** How many objects are dealt with at the same time. */
  readonly atOnce: number;
  readonly counts: Counts;
  advance(bytes: number): void;
  damaged(place: Place, error: StoreError): Promise<void>;
  /** One that is damaged in the source, and was told so, is no difference besides. */
  different(place: Place, what: string): Promise<void>;
  expect: NonNullable<CopyWork["progress"]>["expect"];
}

export interface Counts {
  buckets: number;
  objects: number;
  bytes: number;
  uploads: number;
  documents: number;
  copiedObjects: number;
  damages: number;
  differences: number;
}

export interface Place {
  readonly bucket?: string | undefined;
  readonly key?: Key | undefined;
}

/** As many as are remembered; a source with more of them needs another remedy than a copy. */
const mostDamages = 1000;

export function createCopying(
  from: Side,
  to: Side,
  { work, now, atOnce }: { work: CopyWork; now: () => number; atOnce: number },
): Copying {
  const counts: Counts = {
    ...{ buckets: 0, objects: 0, bytes: 0, uploads: 0, documents: 0 },
    ...{ copiedObjects: 0, damages: 0, differences: 0 },
  };
  const told = new Set<string>();
  const tell = async (finding: CopyFinding) => work.tell?.(finding);
  return {
    ...{ from, to, signal: work.signal, now, atOnce, counts },
    advance: (bytes) => work.progress?.advance(bytes),
    expect: (stage, bytes) => work.progress?.expect(stage, bytes),
    async damaged({ bucket, key }, error) {
      if (!isNew(told, { bucket, key })) return;
      if (++counts.damages > mostDamages) {
        throw new CopyError(`More than ${mostDamages} objects of the source are damaged.`, [
          "See all of them: store verify",
        ]);
      }
      await tell({ kind: "damaged", bucket, key, what: error.detail });
    },
    async different({ bucket, key }, what) {
      if (told.has(placeName({ bucket, key }))) return;
      counts.differences++;
      await tell({ kind: "different", bucket, key, what });
    },
  };
}

function isNew(told: Set<string>, place: Place): boolean {
  const name = placeName(place);
  if (told.has(name)) return false;
  told.add(name);
  return true;
}

function placeName({ bucket, key }: Place): string {
  return JSON.stringify([bucket, key]);
}

/** Whether it says that something is damaged, and not that it cannot be reached at present. */
export function isDamage(error: unknown): error is StoreError {
  return error instanceof StoreError && error.reason === "InternalError";
}

/** The source failed to give what it has: its fault, whoever was told of it. */
export class SourceFault extends Error {
  override readonly name = "SourceFault";
  override readonly cause: StoreError;

  constructor(cause: StoreError) {
    super(cause.message);
    this.cause = cause;
  }
}

/** All stored bytes of a blob, verified on the way. */
export async function* bytesOf(
  copying: Copying,
  reader: BlobReader,
  blob: StoredBlob,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of reader.read(blob, { offset: 0, length: blob.size })) {
    copying.signal?.throwIfAborted();
    copying.advance(chunk.length);
    yield chunk;
  }
}
