// Collects the metrics and the request log lines of worker processes in the supervisor.
import { createSnapshotAggregator } from "./aggregate.ts";
import type { ObserverOptions } from "./reporter.ts";
import type { FromObserver, ToObserver } from "./reporter-messages.ts";
import type { Snapshot } from "./snapshot.ts";

export interface WatchOptions {
  readonly counts: boolean;
  /** Writes lines to the request log; undefined if there is no request log. */
  readonly writeLines?: ((text: string) => Promise<void>) | undefined;
}

export interface Watch {
  /** Settings for the processes: whether to count and log requests. */
  readonly observing: ObserverOptions;
  /** Adds a process; `send` sends it a message. */
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
