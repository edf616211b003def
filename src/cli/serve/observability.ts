// Sets up the metrics and the request log of a server, and merges the metrics of its processes.
import type { ConsoleMetrics } from "../../console/api/administration/metrics.ts";
import type { MonitoringSources } from "../../console/monitoring.ts";
import type { Engine } from "../../engine/engine.ts";
import { createOpenStreams, type OpenStreams } from "../../http/server/listener-state.ts";
import { createWatch, type Watch } from "../../metrics/collector.ts";
import { registerProcessMetrics } from "../../metrics/process-metrics.ts";
import { prometheusText } from "../../metrics/prometheus.ts";
import { createObserver, droppedLines, type Observer } from "../../metrics/reporter.ts";
import { mergeSnapshots } from "../../metrics/snapshot.ts";
import type { Invocation, Option } from "../framework/command.ts";
import { packageVersion } from "../framework/package-root.ts";
import { pathArgument } from "../framework/path-argument.ts";
import { startMetricsSampler } from "./console/metrics.ts";
import { createReadiness, type ReadinessOptions } from "./readiness.ts";
import { openRequestLog } from "./request-log.ts";
import { createStoreMetrics } from "./store-metrics.ts";

export const observationOptions: Readonly<Record<string, Option>> = {
  "request-log": {
    value: "FILE",
    summary: "write one JSON line for each request to FILE; - is standard output",
  },
  "metrics-open": { summary: "serve /metrics on the console's port without a token" },
  "no-metrics": { summary: "turn metrics off" },
};

export interface Observation extends Pick<Observer, "metrics" | "onExchange"> {
  /** Collects metrics from the processes the server starts. */
  readonly watch: Watch;
  /** Path of the request log, if any; "-" is standard output. */
  readonly requestLog: string | undefined;
  /** Counts the open streams of the ports that this process serves itself. */
  readonly streams: OpenStreams;
  /** Creates the data sources of the monitoring endpoints on the console's port. */
  createMonitoring(served: Omit<ReadinessOptions, "log"> & { readonly engine: Engine }): {
    readonly monitoring: MonitoringSources;
    readonly metrics: ConsoleMetrics;
    /** Stores the last metrics; call it before the store is closed. */
    close(): Promise<void>;
  };
  close(): Promise<void>;
}

export async function openObservation({ options, output, directory }: Invocation): Promise<Observation> {
  const counts = !options.flag("no-metrics");
  const file = options.text("request-log");
  const logLine = (line: string) => output.note(line);
  const path =
    file === undefined || file === "-"
      ? file
      : pathArgument({ directory }, { label: "--request-log", text: file, expected: "a file or -" });
  const log =
    path === undefined ? undefined : await openRequestLog({ path, stdout: output.stdout, log: logLine });
  const watch = createWatch({ counts, writeLines: log?.write });
  const { metrics, onExchange, receive } = createObserver(watch.observing, (message) => own.receive(message));
  const own = watch.join(receive);
  const streams = createOpenStreams();
  registerProcessMetrics(metrics, "supervisor", streams);
  metrics.addReading(
    { name: "store_info", help: "Version of the running server.", labels: ["version"] },
    "gauge",
    () => [[[packageVersion()], 1]],
  );
  if (log !== undefined) {
    metrics.addReading(droppedLines, "counter", () => [[[], log.lost]]);
  }
  return {
    ...{ metrics, onExchange, watch, streams, requestLog: path },
    createMonitoring({ engine, ...served }) {
      const storeMetrics = createStoreMetrics(engine);
      const snapshot = async () =>
        mergeSnapshots(await Promise.all([watch.snapshot(), storeMetrics.snapshot()]));
      const sampler = counts ? startMetricsSampler(snapshot, served.documents) : undefined;
      const monitoring = {
        troubles: createReadiness({ ...served, log: logLine }),
        metricsText: counts ? async () => prometheusText(await snapshot()) : undefined,
        isOpen: options.flag("metrics-open"),
      };
      return { monitoring, metrics: sampler?.metrics, close: async () => sampler?.close() };
    },
    async close() {
      await log?.close();
    },
  };
}
