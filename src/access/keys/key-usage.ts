// Records when access keys were last used. Workers report to the supervisor, which stores one time
// per key and hour, so that reads do not cause many writes. A crash loses at most one hour.
import { clearTimeout, setTimeout } from "node:timers";
import type { Documents } from "../../engine/records.ts";

/** Times of last use in milliseconds since the epoch. */
export type Uses = readonly (readonly [accessKeyId: string, time: number])[];

const kind = "credential use";
const writeMilliseconds = 3600_000;
const reportMilliseconds = 1000;

/** Runs in a worker: collects uses and reports them to the supervisor once a second. */
export interface UseReporter {
  record(accessKeyId: string): void;
  /** Reports pending uses immediately. */
  flush(): void;
}

export function createUseReporter(report: (uses: Uses) => void, now: () => number): UseReporter {
  const pending = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (pending.size > 0) report([...pending]);
    pending.clear();
  }
  return {
    record(accessKeyId) {
      pending.set(accessKeyId, now());
      timer ??= setTimeout(flush, reportMilliseconds).unref();
    },
    flush,
  };
}

/** Runs in the supervisor: receives the uses that workers report, and stores them. */
export interface KeyUses {
  record(uses: Uses): void;
  /** Returns the last use since this server started. Undefined if there was none. */
  lastUse(accessKeyId: string): number | undefined;
  /** Stores every use that is newer than the stored time. */
  close(): Promise<void>;
}

export function createKeyUses(documents: Documents): KeyUses {
  const seen = new Map<string, number>();
  /** Cache of stored times. */
  const written = new Map<string, number>();
  let lastWrite: Promise<void> = Promise.resolve();

  async function write(accessKeyId: string, minInterval: number): Promise<void> {
    const time = seen.get(accessKeyId)!;
    if (time - (written.get(accessKeyId) ?? 0) < minInterval) return;
    const existing = await documents.get(kind, accessKeyId);
    const writtenTime = existing === undefined ? 0 : Number(existing.text);
    written.set(accessKeyId, writtenTime);
    if (time - writtenTime < minInterval) return;
    // Skip a key that was deleted meanwhile.
    if ((await documents.get("credential", accessKeyId)) === undefined) return;
    const outcome = await documents.put(kind, accessKeyId, String(time), existing?.revision);
    // On a conflict, another server has just stored its time, which is accurate enough.
    if (outcome === "committed") written.set(accessKeyId, time);
  }

  /** Writes one key at a time. Failures are ignored: the next use causes a retry. */
  function writeAll(accessKeyIds: Iterable<string>, minInterval: number): Promise<void> {
    for (const accessKeyId of accessKeyIds) {
      lastWrite = lastWrite.then(() => write(accessKeyId, minInterval)).catch(() => {});
    }
    return lastWrite;
  }

  return {
    record(uses) {
      for (const [accessKeyId, time] of uses) {
        seen.set(accessKeyId, Math.max(time, seen.get(accessKeyId) ?? 0));
      }
      void writeAll(
        uses.map(([accessKeyId]) => accessKeyId),
        writeMilliseconds,
      );
    },
    lastUse: (accessKeyId) => seen.get(accessKeyId),
    close: () => writeAll(seen.keys(), 1),
  };
}

/** Reads the stored times of last use, by access key. */
export async function readUses(documents: Documents): Promise<ReadonlyMap<string, number>> {
  return new Map((await documents.list(kind)).map(({ name, text }) => [name, Number(text)]));
}

/** Deletes the stored time of an access key that is deleted. */
export async function deleteUse(documents: Documents, accessKeyId: string): Promise<void> {
  await documents.delete(kind, accessKeyId);
}
