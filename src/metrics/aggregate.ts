// The figures of several processes as one. Each is asked for its own and given a moment; for one that does not answer in
// time, and for those that have ended, what they said last counts.
import { lasting, merged, type Snapshot } from "./snapshot.ts";

export interface Gathering {
  /** A process that can be asked from now on. */
  join(ask: () => void): Member;
  snapshot(): Promise<Snapshot>;
}

export interface Member {
  said(snapshot: Snapshot): void;
  /** It has ended. */
  left(): void;
}

interface Known {
  readonly ask: () => void;
  last: Snapshot;
  /** Whoever waits for what it says next. */
  waiting: (() => void)[];
}

const answerMilliseconds = 1000;

export function createGathering(patience = answerMilliseconds): Gathering {
  const members = new Set<Known>();
  let ended: Snapshot = [];

  function answered(known: Known): void {
    for (const wake of known.waiting.splice(0)) wake();
  }

  return {
    join(ask) {
      const known: Known = { ask, last: [], waiting: [] };
      members.add(known);
      return {
        said(snapshot) {
          known.last = snapshot;
          answered(known);
        },
        left() {
          if (!members.delete(known)) return;
          ended = merged([ended, lasting(known.last)]);
          answered(known);
        },
      };
    },
    async snapshot() {
      const asked = [...members];
      let late: NodeJS.Timeout | undefined;
      const tooLate = new Promise<void>((resolve) => {
        late = setTimeout(resolve, patience);
      });
      const answers = asked.map(
        (known) =>
          new Promise<void>((resolve) => {
            known.waiting.push(resolve);
            known.ask();
          }),
      );
      await Promise.race([Promise.all(answers), tooLate]);
      clearTimeout(late);
      return merged([ended, ...[...members].map(({ last }) => last)]);
    },
  };
}
