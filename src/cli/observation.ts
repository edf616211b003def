// What a server counts and logs: the options that say so, and the figures of all its processes as one.
import { resolve } from "node:path";
import { openStreams } from "../http/open-streams.ts";
import { createMetrics, type Metrics } from "../metrics/metrics.ts";
import { tellProcess } from "../metrics/process-figures.ts";
import { merged, type Snapshot } from "../metrics/snapshot.ts";
import { createWatch, type Watch } from "../metrics/watch.ts";
import type { Invocation, Option } from "./command.ts";
import { openRequestLog } from "./request-log.ts";

export const observationOptions: Readonly<Record<string, Option>> = {
  "request-log": { value: "FILE", summary: "a line of JSON for each request; - is standard output" },
  "no-metrics": { summary: "count no requests" },
};

export interface Observation {
  /** Whether requests are counted. */
  readonly counts: boolean;
  /** Of this process. */
  readonly metrics: Metrics;
  /** For the processes it starts. */
  readonly watch: Watch;
  /** Of all of them, with whatever else is given. */
  snapshot(more?: readonly Promise<Snapshot>[]): Promise<Snapshot>;
  close(): Promise<void>;
}

export async function openObservation({ options, output, directory }: Invocation): Promise<Observation> {
  const counts = !options.flag("no-metrics");
  const file = options.text("request-log");
  const log =
    file === undefined
      ? undefined
      : await openRequestLog({
          file: file === "-" ? file : resolve(directory, file),
          stdout: output.stdout,
          tell: (line) => output.note(line),
        });
  const metrics = createMetrics();
  tellProcess(metrics, "supervisor", openStreams);
  if (log !== undefined) {
    metrics.reading(
      { name: "store_request_log_dropped_total", help: "Lines of the request log that found no room." },
      "counter",
      () => [[[], log.lost]],
    );
  }
  const watch = createWatch({ counts, writeLines: log?.write });
  return {
    ...{ counts, metrics, watch },
    async snapshot(more = []) {
      const others = await Promise.all([watch.snapshot(), ...more]);
      return merged([metrics.snapshot(), ...others]);
    },
    close: async () => log?.close(),
  };
}
