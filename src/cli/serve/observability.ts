// What a server counts and logs: the options that say so, and the figures of all its processes as one.
import type { ConsoleMetrics } from "../../console/api/metrics.ts";
import type { Monitored } from "../../console/monitoring.ts";
import type { Engine } from "../../engine/engine.ts";
import { openStreams } from "../../http/server/open-streams.ts";
import { createWatch, type Watch } from "../../metrics/collector.ts";
import { tellProcess } from "../../metrics/process-metrics.ts";
import { prometheusText } from "../../metrics/prometheus.ts";
import { createObserver, droppedLines, type Observer } from "../../metrics/reporter.ts";
import { merged } from "../../metrics/snapshot.ts";
import type { Invocation, Option } from "../framework/command.ts";
import { packageVersion } from "../framework/package-root.ts";
import { pathArgument } from "../framework/path-argument.ts";
import { type Looking, lookAtFigures } from "./console-metrics.ts";
import { createReadiness, type ReadinessOptions } from "./readiness.ts";
import { openRequestLog } from "./request-log.ts";
import { createStoreFigures } from "./store-metrics.ts";

export const observationOptions: Readonly<Record<string, Option>> = {
  "request-log": { value: "FILE", summary: "a line of JSON for each request; - is standard output" },
  "metrics-open": { summary: "let everybody read /metrics who reaches the console's port, without a token" },
  "no-metrics": { summary: "count nothing" },
};

export interface Observation extends Pick<Observer, "metrics" | "onExchange"> {
  /** For the processes it starts. */
  readonly watch: Watch;
  /** What the console's port tells, once it is known what serves. */
  monitored(served: Omit<ReadinessOptions, "log"> & { readonly engine: Engine }): {
    readonly monitored: Monitored;
    readonly metrics: ConsoleMetrics;
  };
  close(): Promise<void>;
}

export async function openObservation({ options, output, directory }: Invocation): Promise<Observation> {
  const counts = !options.flag("no-metrics");
  const file = options.text("request-log");
  const tell = (line: string) => output.note(line);
  const path =
    file === undefined || file === "-"
      ? file
      : pathArgument({ directory }, { called: "--request-log", text: file, possible: "a file or -" });
  const log = path === undefined ? undefined : await openRequestLog({ path, stdout: output.stdout, tell });
  const watch = createWatch({ counts, writeLines: log?.write });
  const { metrics, onExchange, heard } = createObserver(watch.observing, (message) => own.heard(message));
  const own = watch.join(heard);
  tellProcess(metrics, "supervisor", openStreams);
  metrics.reading(
    { name: "store_info", help: "The version that runs.", labels: ["version"] },
    "gauge",
    () => [[[packageVersion()], 1]],
  );
  if (log !== undefined) {
    metrics.reading(droppedLines, "counter", () => [[[], log.lost]]);
  }
  let looking: Looking | undefined;
  return {
    ...{ metrics, onExchange, watch },
    monitored({ engine, ...served }) {
      const holdings = createStoreFigures(engine);
      const snapshot = async () => merged(await Promise.all([watch.snapshot(), holdings.snapshot()]));
      looking = counts ? lookAtFigures(snapshot) : undefined;
      const monitored = {
        troubles: createReadiness({ ...served, log: tell }),
        figures: counts ? async () => prometheusText(await snapshot()) : undefined,
        isOpen: options.flag("metrics-open"),
      };
      return { monitored, metrics: looking?.metrics };
    },
    async close() {
      looking?.close();
      await log?.close();
    },
  };
}
