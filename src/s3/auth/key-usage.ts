// When access keys were last used. Processes count in memory and tell their supervisor, which writes it down at most
// once an hour for each key: so no read becomes a write, and what a crash takes is the last hour.
import type { Documents } from "../../engine/records.ts";

/** Access keys, each with when it was last used, in milliseconds since the epoch. */
export type Uses = readonly (readonly [accessKeyId: string, time: number])[];

const kind = "credential use";
const writeMilliseconds = 3600_000;
const reportMilliseconds = 1000;

/** In a process that serves: gathers uses, and tells of them together. */
export interface UseReporter {
  record(accessKeyId: string): void;
  /** What was not told yet. */
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

/** In the supervisor: what its processes have told. */
export interface KeyUses {
  record(uses: Uses): void;
  /** Of what this server has seen. */
  lastUse(accessKeyId: string): number | undefined;
  /** Writes down what is newer than what is written. */
  close(): Promise<void>;
}

export function createKeyUses(documents: Documents): KeyUses {
  const seen = new Map<string, number>();
  /** As it is known to be written; a key that was not met yet is looked up. */
  const written = new Map<string, number>();
  let lastWrite: Promise<void> = Promise.resolve();

  async function write(accessKeyId: string, minInterval: number): Promise<void> {
    const time = seen.get(accessKeyId)!;
    if (time - (written.get(accessKeyId) ?? 0) < minInterval) return;
    const existing = await documents.get(kind, accessKeyId);
    const writtenTime = existing === undefined ? 0 : Number(existing.text);
    written.set(accessKeyId, writtenTime);
    if (time - writtenTime < minInterval) return;
    // A key that was deleted meanwhile leaves nothing behind.
    if ((await documents.get("credential", accessKeyId)) === undefined) return;
    const outcome = await documents.put(kind, accessKeyId, String(time), existing?.revision);
    // Of two servers that write at the same time one is enough.
    if (outcome === "committed") written.set(accessKeyId, time);
  }

  /** One after the other. What cannot be written is not worth a failure: the next use tries again. */
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

/** As written, by access key. */
export async function readUses(documents: Documents): Promise<ReadonlyMap<string, number>> {
  return new Map((await documents.list(kind)).map(({ name, text }) => [name, Number(text)]));
}

/** With its key. */
export async function deleteUse(documents: Documents, accessKeyId: string): Promise<void> {
  await documents.delete(kind, accessKeyId);
}
