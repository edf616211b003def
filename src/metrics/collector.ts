// The supervisor's side of the processes it observes: their figures as one, and their lines to whoever writes them.
import { createGathering } from "./aggregate.ts";
import type { Observing } from "./reporter.ts";
import type { FromObserver, ToObserver } from "./reporter-messages.ts";
import type { Snapshot } from "./snapshot.ts";

export interface WatchOptions {
  readonly counts: boolean;
  /** Where lines of the request log go; undefined when nobody keeps one. */
  readonly writeLines?: ((text: string) => Promise<void>) | undefined;
}

export interface Watch {
  /** What processes are to observe. */
  readonly observing: Observing;
  /** A process that can be spoken to from now on. */
  join(say: (message: ToObserver) => void): Watched;
  snapshot(): Promise<Snapshot>;
}

export interface Watched {
  heard(message: FromObserver): void;
  left(): void;
}

export function createWatch({ counts, writeLines }: WatchOptions): Watch {
  const gathering = createGathering();
  return {
    observing: { counts, logs: writeLines !== undefined },
    join(say) {
      const member = gathering.join(() => say({ kind: "tell figures" }));
      return {
        heard(message) {
          if (message.kind === "figures") member.said(message.snapshot);
          else void writeLines?.(message.text).then(() => say({ kind: "lines taken" }));
        },
        left: () => member.left(),
      };
    },
    snapshot: () => gathering.snapshot(),
  };
}
