// Records audit entries for front ends. Entries that cannot be written at once wait in memory and are
// written later, so that a log that is blocked for a while misses nothing.
import { setTimeout } from "node:timers";
import { setTimeout as pause } from "node:timers/promises";
import { errorMessage } from "../model/errors.ts";
import type { AuditEntry, AuditLog, RecordAudit } from "./audit-log.ts";

export interface AuditRecorder {
  /** Never rejects: the change is done already, and its entry waits if it cannot be written. */
  readonly record: RecordAudit;
  /** Writes the entries that wait. Reports those that can still not be written after some seconds. */
  flush(): Promise<void>;
}

export interface AuditRecorderOptions {
  readonly log: Pick<AuditLog, "record">;
  readonly now: () => number;
  readonly warn: (line: string) => void;
}

/** Entries in memory, also those that the log is writing. Further ones are counted by their kind. */
const maxEntries = 1000;
/** Entries that a retry writes at once. */
const retryBatch = 64;
const minRetryMilliseconds = 500;
const maxRetryMilliseconds = 30_000;
const flushAttempts = 20;
const flushPause = 250;

/** Entries of one action and front end, counted because memory was full. */
interface CountedEntries {
  readonly first: AuditEntry;
  readonly lastTime: string;
  readonly count: number;
}

export function createAuditRecorder({ log, now, warn }: AuditRecorderOptions): AuditRecorder {
  const waiting: AuditEntry[] = [];
  /** At most one for each action and front end. */
  const counted = new Map<string, CountedEntries>();
  let writing = 0;
  let retryMilliseconds = minRetryMilliseconds;
  let timer: NodeJS.Timeout | undefined;
  let retry: Promise<void> | undefined;

  async function record(given: Omit<AuditEntry, "time">): Promise<void> {
    const entry: AuditEntry = { time: new Date(now()).toISOString(), ...given };
    if (writing + waiting.length >= maxEntries) {
      count(entry);
      schedule();
      return;
    }
    await write(entry);
  }

  async function write(entry: AuditEntry): Promise<void> {
    writing++;
    try {
      await log.record(entry);
    } catch (error) {
      if (timer === undefined && retry === undefined) {
        warn(`The audit log cannot be written; its entries wait in memory: ${errorMessage(error)}`);
      }
      waiting.push(entry);
      schedule();
    } finally {
      writing--;
    }
  }

  function count(entry: AuditEntry): void {
    const kind = `${entry.act} ${entry.by.face}`;
    const { first = entry, count: before = 0 } = counted.get(kind) ?? {};
    counted.set(kind, { first, lastTime: entry.time, count: before + (entry.count ?? 1) });
  }

  function schedule(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      retryMilliseconds = Math.min(retryMilliseconds * 2, maxRetryMilliseconds);
      void writeWaiting();
    }, retryMilliseconds).unref();
  }

  function writeWaiting(): Promise<void> {
    retry ??= writeBatches().finally(() => {
      retry = undefined;
    });
    return retry;
  }

  /** Writes what waits in its order, and ends at the first batch that fails again. */
  async function writeBatches(): Promise<void> {
    if (isEmpty()) return;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, retryBatch);
      await Promise.all(batch.map(write));
      if (waiting.some((entry) => batch.includes(entry))) return;
    }
    for (const [kind, group] of [...counted]) {
      counted.delete(kind);
      await write(toEntry(group));
      if (waiting.length > 0) return;
    }
    retryMilliseconds = minRetryMilliseconds;
    warn("The audit log can be written again, and has the entries that waited.");
  }

  function isEmpty(): boolean {
    return waiting.length === 0 && counted.size === 0;
  }

  async function flush(): Promise<void> {
    for (let attempt = 1; attempt <= flushAttempts; attempt++) {
      await writeWaiting();
      if (isEmpty()) return;
      await pause(flushPause);
    }
    for (const entry of waiting.splice(0)) count(entry);
    const kinds = [...counted.values()].map(({ first, count: times }) => `${times} × "${first.act}"`);
    warn(`The audit log could not be written and lacks these entries: ${kinds.join(", ")}`);
    counted.clear();
  }

  return { record, flush };
}

/** Has no user and no subject: they differ between the entries that are combined. */
function toEntry({ first, lastTime, count }: CountedEntries): AuditEntry {
  const detail = `entries combined until ${lastTime}, because the audit log could not be written`;
  return { time: first.time, act: first.act, detail, count, by: { face: first.by.face } };
}
