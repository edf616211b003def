// Combines audit entries of the same kind, so that a client that repeats a request cannot fill the
// log: the first is recorded at once, later ones after an interval, with their number.
import { clearTimeout, setTimeout } from "node:timers";
import type { AuditEntry, RecordAudit } from "./audit-log.ts";

export type AggregatedEntry = Omit<AuditEntry, "time" | "count">;

export interface AuditAggregator {
  /** Counts the entry. Of each group, at most one entry a second is recorded: the first, and counts. */
  add(group: string, entry: AggregatedEntry): void;
  /** Records what was counted so far, and waits until all entries are recorded. */
  flush(): Promise<void>;
}

export interface AggregatorOptions {
  readonly record: RecordAudit;
  /** While a group goes on, its interval doubles up to this. Default: one minute. */
  readonly maxMilliseconds?: number | undefined;
  readonly minMilliseconds?: number | undefined;
}

interface Group {
  /** The first entry that was counted but not recorded. */
  entry: AggregatedEntry | undefined;
  count: number;
  milliseconds: number;
  idleMilliseconds: number;
  timer: NodeJS.Timeout | undefined;
}

/** Entries of further groups are counted together, whatever they are about. */
const maxGroups = 64;

export function createAuditAggregator({
  record,
  maxMilliseconds = 60_000,
  minMilliseconds = 1000,
}: AggregatorOptions): AuditAggregator {
  const groups = new Map<string, Group>();
  const inFlight = new Set<Promise<void>>();

  function recordNow(entry: Omit<AuditEntry, "time">): void {
    const run = record(entry).finally(() => inFlight.delete(run));
    inFlight.add(run);
  }

  function schedule(name: string, group: Group): void {
    group.timer = setTimeout(() => {
      if (group.entry !== undefined) {
        recordCount(group);
        group.idleMilliseconds = 0;
        group.milliseconds = Math.min(group.milliseconds * 2, maxMilliseconds);
      } else if (group.milliseconds > minMilliseconds) {
        group.milliseconds = Math.max(group.milliseconds / 2, minMilliseconds);
      } else {
        // Only slowly forgotten: otherwise clients could start new groups all the time.
        group.idleMilliseconds += group.milliseconds;
        if (group.idleMilliseconds >= maxMilliseconds) {
          groups.delete(name);
          return;
        }
      }
      schedule(name, group);
    }, group.milliseconds).unref();
  }

  function recordCount(group: Group): void {
    const { entry, count } = group;
    if (entry === undefined) return;
    group.entry = undefined;
    group.count = 0;
    recordNow({ ...entry, count });
  }

  return {
    add(name, entry) {
      const isFull = groups.size >= maxGroups && !groups.has(name);
      const groupName = isFull ? "" : name;
      const { act, by } = entry;
      const added = isFull ? { act, detail: "several reasons", by: { face: by.face } } : entry;
      const group = groups.get(groupName);
      if (group === undefined) {
        const created: Group = {
          ...{ entry: undefined, count: 0, idleMilliseconds: 0 },
          ...{ milliseconds: minMilliseconds, timer: undefined },
        };
        groups.set(groupName, created);
        schedule(groupName, created);
        recordNow({ ...added, count: 1 });
        return;
      }
      group.entry ??= added;
      group.count++;
    },
    async flush() {
      const pending = [...groups.values()];
      groups.clear();
      for (const { timer } of pending) clearTimeout(timer);
      for (const group of pending) recordCount(group);
      await Promise.all(inFlight);
    },
  };
}
