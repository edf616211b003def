// Syncs the keys below a prefix of one bucket to another bucket, of the same or another service.
import { forEachLimit } from "../../../async/for-each-limit.ts";
import { mergeJoin } from "../../../async/merge-join.ts";
import type { Key } from "../../../model/key.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import type { Output } from "../../framework/output.ts";
import type { NameFilter } from "../../store/glob.ts";
import type { ObjectSide } from "../../store/stores.ts";
import { isFatal, listObjects, type SyncCounts, type TransferEvent } from "../sync/sync.ts";
import { copyItem } from "./copy-item.ts";

/** The keys of both sides are empty or end with a slash. */
export interface BucketSyncOptions {
  readonly from: ObjectSide;
  readonly to: ObjectSide;
  readonly deletes: boolean;
  readonly isDryRun: boolean;
  readonly sizeOnly: boolean;
  readonly filter: NameFilter;
  readonly output: Output;
  readonly signal: AbortSignal;
  onBytes(count: number): void;
  onEvent(event: TransferEvent): Promise<void>;
}

const concurrency = 8;

interface NamedRecord {
  /** The key after the prefix, by which both sides are joined. */
  readonly key: string;
  readonly record: ObjectRecord;
}

export async function syncBuckets(options: BucketSyncOptions, counts: SyncCounts): Promise<void> {
  const { from, to, signal, filter } = options;
  const pairs = mergeJoin(names(from), names(to));
  await forEachLimit(pairs, { concurrency, signal }, async ({ key: name, source, target }) => {
    if (!filter(name)) return;
    const key = (source ?? target)!.record.key;
    try {
      if (source !== undefined) await copyIfDifferent(options, counts, { name, source, target });
      else if (options.deletes) await remove(options, counts, key);
    } catch (error) {
      signal.throwIfAborted();
      if (isFatal(error)) throw error;
      counts.failed++;
      await options.onEvent({ kind: "failed", key, error });
    }
  });
}

async function* names({ store, bucket, key: prefix }: ObjectSide): AsyncGenerator<NamedRecord> {
  for await (const { key, record } of listObjects({ engine: store.engine, bucket, prefix }))
    yield { key: key.slice(prefix.length), record };
}

interface Pair {
  readonly name: string;
  readonly source: NamedRecord;
  readonly target: NamedRecord | undefined;
}

async function copyIfDifferent(options: BucketSyncOptions, counts: SyncCounts, pair: Pair): Promise<void> {
  const { from, to, isDryRun, sizeOnly, output, signal, onBytes, onEvent } = options;
  const { name, source, target } = pair;
  const { record } = source;
  if (target !== undefined && isSame(record, target.record, sizeOnly)) {
    counts.same++;
    return;
  }
  if (!isDryRun) {
    const address = { bucket: to.bucket, key: to.key + name };
    const copyTarget = { kind: "object", side: to, address: () => address } as const;
    const context = { output, signal, isMove: false, onBytes };
    await copyItem({ kind: "object", name, side: from, record }, copyTarget, context);
  }
  counts.copied++;
  counts.bytes += record.size;
  await onEvent({ kind: "copy", key: record.key, size: record.size });
}

/**
 * Etags of objects that were uploaded in other parts differ though the bytes are the same. Then, as
 * other tools do, an object of the same size that is not older counts as the same.
 */
function isSame(source: ObjectRecord, target: ObjectRecord, sizeOnly: boolean): boolean {
  if (source.size !== target.size) return false;
  if (sizeOnly || source.etag === target.etag) return true;
  const areMd5 = source.checksums.md5 !== undefined && target.checksums.md5 !== undefined;
  const arePartial = source.checksumParts !== undefined || target.checksumParts !== undefined;
  return (!areMd5 || arePartial) && target.uploaded >= source.uploaded;
}

async function remove(
  { to, isDryRun, onEvent }: BucketSyncOptions,
  counts: SyncCounts,
  key: Key,
): Promise<void> {
  if (!isDryRun) await to.store.engine.delete(to.bucket, [key]);
  counts.deleted++;
  await onEvent({ kind: "delete", key });
}
