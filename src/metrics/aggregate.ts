// Aggregates the metrics of several processes. Each process is asked for a snapshot. If a process
// has ended or does not respond in time, its last snapshot counts.
import { clearTimeout, setTimeout } from "node:timers";
import { mergeSnapshots, type Snapshot, withoutGauges } from "./snapshot.ts";

export interface SnapshotAggregator {
  /** Adds a process; `ask` requests a snapshot from it. */
  join(ask: () => void): Member;
  snapshot(): Promise<Snapshot>;
}

export interface Member {
  receive(snapshot: Snapshot): void;
  /** Must be called when the process has ended. */
  remove(): void;
}

interface MemberState {
  readonly ask: () => void;
  last: Snapshot;
  /** Callers that wait for the next snapshot. */
  waiting: (() => void)[];
}

const defaultTimeoutMilliseconds = 1000;

export function createSnapshotAggregator(
  timeoutMilliseconds = defaultTimeoutMilliseconds,
): SnapshotAggregator {
  const members = new Set<MemberState>();
  let endedTotals: Snapshot = [];

  function wakeWaiting(state: MemberState): void {
    for (const wake of state.waiting.splice(0)) wake();
  }

  return {
    join(ask) {
      const state: MemberState = { ask, last: [], waiting: [] };
      members.add(state);
      return {
        receive(snapshot) {
          state.last = snapshot;
          wakeWaiting(state);
        },
        remove() {
          if (!members.delete(state)) return;
          endedTotals = mergeSnapshots([endedTotals, withoutGauges(state.last)]);
          wakeWaiting(state);
        },
      };
    },
    async snapshot() {
      const polled = [...members];
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, timeoutMilliseconds);
      });
      const answers = polled.map(
        (state) =>
          new Promise<void>((resolve) => {
            state.waiting.push(resolve);
            state.ask();
          }),
      );
      await Promise.race([Promise.all(answers), timeout]);
      clearTimeout(timer);
      return mergeSnapshots([endedTotals, ...[...members].map(({ last }) => last)]);
    },
  };
}
