// State shared by all parts of a copy: the ports of both sides, progress and findings.
import type { BlobReader, Blobs, StoredBlob } from "../engine/blobs.ts";
import type { Records } from "../engine/records.ts";
import { CopyError, type CopyFinding, type CopyReport, type CopyWork } from "../model/copy.ts";
import { StoreError } from "../model/errors.ts";
import type { Key } from "../model/key.ts";

export interface Side {
  readonly records: Records;
  readonly blobs: Blobs;
}

export interface CopyContext {
  readonly from: Side;
  readonly to: Side;
  readonly signal: AbortSignal | undefined;
  readonly now: () => number;
  /** Maximum number of objects processed concurrently. */
  readonly concurrency: number;
  readonly counts: Counts;
  advance(bytes: number): void;
  reportDamage(subject: CopySubject, error: StoreError): Promise<void>;
  /** Does nothing if the item was already reported as damaged. */
  reportDifference(subject: CopySubject, what: string): Promise<void>;
  expect: NonNullable<CopyWork["progress"]>["expect"];
}

export type Counts = { -readonly [name in keyof CopyReport]: CopyReport[name] };

export interface CopySubject {
  readonly bucket?: string | undefined;
  readonly key?: Key | undefined;
}

/** Maximum number of damaged items in the source. With more, the copy fails. */
const maxDamages = 1000;

export function createCopyContext(
  from: Side,
  to: Side,
  { work, now, concurrency }: { work: CopyWork; now: () => number; concurrency: number },
): CopyContext {
  const counts: Counts = {
    ...{ buckets: 0, objects: 0, bytes: 0, uploads: 0, documents: 0 },
    ...{ copiedObjects: 0, damages: 0, differences: 0 },
  };
  const reported = new Set<string>();
  const report = async (finding: CopyFinding) => work.onFinding?.(finding);
  return {
    ...{ from, to, signal: work.signal, now, concurrency, counts },
    advance: (bytes) => work.progress?.advance(bytes),
    expect: (stage, bytes) => work.progress?.expect(stage, bytes),
    async reportDamage({ bucket, key }, error) {
      if (!markReported(reported, { bucket, key })) return;
      if (++counts.damages > maxDamages) {
        throw new CopyError(`More than ${maxDamages} objects of the source are damaged.`, [
          "See all of them: store verify",
        ]);
      }
      await report({ kind: "damaged", bucket, key, what: error.detail });
    },
    async reportDifference({ bucket, key }, what) {
      if (reported.has(subjectId({ bucket, key }))) return;
      counts.differences++;
      await report({ kind: "different", bucket, key, what });
    },
  };
}

function markReported(reported: Set<string>, subject: CopySubject): boolean {
  const name = subjectId(subject);
  if (reported.has(name)) return false;
  reported.add(name);
  return true;
}

function subjectId({ bucket, key }: CopySubject): string {
  return JSON.stringify([bucket, key]);
}

/** Whether the error means that stored data is damaged, not just temporarily unavailable. */
export function isDamage(error: unknown): error is StoreError {
  return error instanceof StoreError && error.reason === "Damaged";
}

/** An error of the source, not of the target. */
export class SourceFault extends Error {
  override readonly name = "SourceFault";
  override readonly cause: StoreError;

  constructor(cause: StoreError) {
    super(cause.message);
    this.cause = cause;
  }
}

/** Yields all stored bytes of a blob, verified. */
export async function* readBlob(
  context: CopyContext,
  reader: BlobReader,
  blob: StoredBlob,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of reader.read(blob, { offset: 0, length: blob.size })) {
    context.signal?.throwIfAborted();
    context.advance(chunk.length);
    yield chunk;
  }
}
