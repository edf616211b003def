// Metrics of a cluster's database: commits in flight, their duration, and the connections.
import { type Counter, type Histogram, type Metrics, secondsBounds } from "../../metrics/metrics.ts";
import type { PoolUsage } from "./pool.ts";

export interface ClusterMetrics {
  /** Commits in flight. */
  readonly queue: Counter;
  readonly wait: Histogram;
}

export function createClusterMetrics(metrics: Metrics, usage: () => PoolUsage): ClusterMetrics {
  metrics.addReading(
    {
      name: "store_database_connections",
      help: "Connections to the database: busy, idle, and how many wait for one.",
      labels: ["state"],
    },
    "gauge",
    () => Object.entries(usage()).map(([state, count]) => [[state], count]),
  );
  return {
    queue: metrics.gauge({ name: "store_commit_queue", help: "Changes that wait to be committed." })(),
    wait: metrics.histogram(
      { name: "store_commit_wait_seconds", help: "How long a change waited until it was durable." },
      secondsBounds,
    )(),
  };
}
