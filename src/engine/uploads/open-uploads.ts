// Limits open uploads per bucket. Counting reads all uploads, so a count is reused until a fraction
// of the remaining uploads was created. A full bucket is counted once per second at most.
import { setImmediate } from "node:timers";
import { StoreError } from "../../model/errors.ts";
import { isActive } from "../../model/upload.ts";
import type { Context } from "../context.ts";

export interface OpenUploads {
  /** Call before an upload is created. Rejects with TooManyUploads at the limit. */
  admit(bucket: string): Promise<void>;
}

interface Count {
  /** Number of uploads that could still be created at the time of the count. */
  readonly left: number;
  readonly time: number;
  /** Number of uploads created since the count. */
  created: number;
}

const pageUploads = 1000;
const recountMilliseconds = 1000;
/** Recounts after this fraction of the remaining uploads: other processes also create uploads. */
const share = 1 / 16;
const maxBuckets = 1000;

export function createOpenUploads(context: Pick<Context, "records" | "now">, maxOpen: number): OpenUploads {
  const counts = new Map<string, Count>();
  const counting = new Map<string, Promise<Count>>();

  /** Counts the open uploads. The scan is limited: it skips at most `maxOpen` ended uploads. */
  async function countOpen(bucket: string): Promise<Count> {
    const time = context.now();
    const before = counts.get(bucket)?.created ?? 0;
    let open = 0;
    let after: { readonly key: string; readonly id: string } | undefined;
    for (let seen = 0; open < maxOpen && seen < 2 * maxOpen; seen += pageUploads) {
      const page = await context.records.uploads(bucket, { prefix: "", after, limit: pageUploads });
      for (const upload of page) if (isActive(upload, time)) open++;
      after = page.at(-1);
      if (page.length < pageUploads) break;
      // Let pending requests run between pages.
      await new Promise((resolve) => setImmediate(resolve));
    }
    // The scan may have missed uploads created during the scan, so add them.
    const created = (counts.get(bucket)?.created ?? 0) - before;
    const count = { left: maxOpen - open, time, created };
    if (counts.size >= maxBuckets) counts.clear();
    counts.set(bucket, count);
    return count;
  }

  /** Runs one count at a time per bucket. */
  function recount(bucket: string): Promise<Count> {
    const running = counting.get(bucket) ?? countOpen(bucket).finally(() => counting.delete(bucket));
    counting.set(bucket, running);
    return running;
  }

  return {
    async admit(bucket) {
      let count = counts.get(bucket) ?? (await recount(bucket));
      // A clock that was set back must not keep a full bucket full until the clock has caught up.
      const isOld = Math.abs(context.now() - count.time) >= recountMilliseconds;
      if (count.created >= count.left && isOld) count = await recount(bucket);
      else if (count.created >= count.left * share && isOld) recount(bucket).catch(() => {});
      if (count.created >= count.left) throw tooMany(bucket, maxOpen);
      count.created++;
    },
  };
}

function tooMany(bucket: string, maxOpen: number): StoreError {
  return new StoreError("TooManyUploads", {
    detail:
      `The bucket "${bucket}" has ${maxOpen} multipart uploads open, which is the limit: ` +
      "complete or abort some of them, then try again.",
  });
}
