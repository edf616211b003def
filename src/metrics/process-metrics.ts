// Metrics of every process: memory, processor time and open streams.
import process from "node:process";
import type { Metrics } from "./metrics.ts";

/** Numbers of bodies being received and sent. */
export interface Streams {
  readonly incoming: number;
  readonly outgoing: number;
}

export function registerProcessMetrics(metrics: Metrics, part: string, streams: Streams): void {
  const labels = ["process"];
  metrics.addReading({ name: "store_processes", help: "Processes that run.", labels }, "gauge", () => [
    [[part], 1],
  ]);
  metrics.addReading(
    { name: "store_process_memory_bytes", help: "Resident memory of processes.", labels },
    "gauge",
    () => [[[part], process.memoryUsage.rss()]],
  );
  metrics.addReading(
    { name: "store_process_cpu_seconds_total", help: "Processor time that processes have used.", labels },
    "counter",
    () => {
      const { user, system } = process.cpuUsage();
      return [[[part], (user + system) / 1e6]];
    },
  );
  metrics.addReading(
    {
      name: "store_open_streams",
      help: "Bodies that are being received or sent now.",
      labels: ["process", "direction"],
    },
    "gauge",
    () => [
      [[part, "in"], streams.incoming],
      [[part, "out"], streams.outgoing],
    ],
  );
}
