// The supervisor's side of the processes it observes: their figures as one, and their lines to whoever writes them.
import { createSnapshotAggregator } from "./aggregate.ts";
import type { ObserverOptions } from "./reporter.ts";
import type { FromObserver, ToObserver } from "./reporter-messages.ts";
import type { Snapshot } from "./snapshot.ts";

export interface WatchOptions {
  readonly counts: boolean;
  /** Where lines of the request log go; undefined when nobody keeps one. */
  readonly writeLines?: ((text: string) => Promise<void>) | undefined;
}

export interface Watch {
  /** What processes are to observe. */
  readonly observing: ObserverOptions;
  /** A process that can be spoken to from now on. */
  join(send: (message: ToObserver) => void): WatchedProcess;
  snapshot(): Promise<Snapshot>;
}

export interface WatchedProcess {
  receive(message: FromObserver): void;
  remove(): void;
}

export function createWatch({ counts, writeLines }: WatchOptions): Watch {
  const aggregator = createSnapshotAggregator();
  return {
    observing: { counts, logs: writeLines !== undefined },
    join(send) {
      const member = aggregator.join(() => send({ kind: "report metrics" }));
      return {
        receive(message) {
          if (message.kind === "metrics") member.receive(message.snapshot);
          else void writeLines?.(message.text).then(() => send({ kind: "lines taken" }));
        },
        remove: () => member.remove(),
      };
    },
    snapshot: () => aggregator.snapshot(),
  };
}
