// Remembers buckets in which a sweep found nothing to do, so that the next sweeps do not open them:
// opening a bucket takes milliseconds, and a store may have 100,000.
import { isNamespaceBucket } from "../../model/key-value.ts";
import type { Context } from "../context.ts";

export interface IdleBuckets {
  /** `mark` is that of `Records.changeMarks`. */
  isIdle(bucket: string, mark: string | undefined, runsLifecycle: boolean): boolean;
  /** Called after a sweep of the bucket without a failure. `mark` was read before the sweep. */
  note(bucket: string, mark: string | undefined): Promise<void>;
  /** Forgets buckets that do not exist any more. */
  keepOnly(buckets: ReadonlySet<string>): void;
}

interface IdleBucket {
  readonly mark: string;
  /** Time at which the next upload expires. */
  readonly due: number;
  readonly hasRules: boolean;
}

export function createIdleBuckets({ records, blobs, now }: Context): IdleBuckets {
  const idle = new Map<string, IdleBucket>();
  return {
    isIdle(bucket, mark, runsLifecycle) {
      const known = idle.get(bucket);
      if (known === undefined || known.mark !== mark || known.due <= now()) return false;
      return !(runsLifecycle && known.hasRules);
    },
    async note(bucket, mark) {
      idle.delete(bucket);
      // During a backup, the sweep has removed nothing.
      if (mark === undefined || blobs.isLeased?.(bucket)) return;
      // A reader may still use garbage that the sweep has found.
      if ((await records.garbage(bucket, 0, 1)).length > 0) return;
      const [upload] = await records.dueUploads(bucket, Number.MAX_SAFE_INTEGER, 1);
      const rules = (await records.bucket(bucket))?.settings.lifecycle ?? [];
      const hasRules = rules.length > 0 || isNamespaceBucket(bucket);
      idle.set(bucket, { mark, due: upload?.due ?? Number.POSITIVE_INFINITY, hasRules });
    },
    keepOnly(buckets) {
      for (const name of idle.keys()) if (!buckets.has(name)) idle.delete(name);
    },
  };
}
