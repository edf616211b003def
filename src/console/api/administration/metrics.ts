// Routes for the metrics in the page's charts: of the server, and of one bucket.
import type { Engine } from "../../../engine/engine.ts";
import type { Bucket } from "../../../model/bucket.ts";
import { ConsoleError, json } from "../../response.ts";
import type { Query, Route } from "../../route.ts";
import type { BucketMetricsDocument, MetricsDocument } from "../../wire-types.ts";
import { requireBucket } from "../setting-changes.ts";

const metricSpans = ["hour", "day", "week", "month"] as const;
const frontEnds = ["s3", "script", "public", "console", "socket"] as const;

type MetricSpan = (typeof metricSpans)[number];

/** Undefined when metrics are off. */
export type ConsoleMetrics =
  | {
      server(span: MetricSpan, frontEnd: (typeof frontEnds)[number] | undefined): Promise<MetricsDocument>;
      bucket(span: MetricSpan, bucket: Bucket): Promise<BucketMetricsDocument>;
    }
  | undefined;

export function metricsRoutes(metrics: ConsoleMetrics, engine: Engine): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/metrics",
      needs: { right: "view", on: "store" },
      async run({ query }) {
        const { server } = required(metrics);
        const frontEnd = query.optional("face");
        return json(
          await server(
            parseSpan(query),
            frontEnd === undefined ? undefined : parseChoice(frontEnds, "face", frontEnd),
          ),
        );
      },
    },
    {
      method: "GET",
      path: "/api/bucket/metrics",
      needs: { right: "view", on: "bucket", in: "query" },
      async run({ query }) {
        const { bucket } = required(metrics);
        return json(await bucket(parseSpan(query), await requireBucket(engine, query.text("bucket"))));
      },
    },
  ];
}

function required(metrics: ConsoleMetrics): NonNullable<ConsoleMetrics> {
  if (metrics !== undefined) return metrics;
  throw new ConsoleError(404, "Metrics are off on this server.", {
    hint: "Start the server without --no-metrics.",
  });
}

function parseSpan(query: Query): MetricSpan {
  return parseChoice(metricSpans, "span", query.optional("span") ?? "hour");
}

function parseChoice<T extends string>(choices: readonly T[], name: string, given: string): T {
  const found = choices.find((one) => one === given);
  if (found !== undefined) return found;
  throw new ConsoleError(400, `"${name}" must be one of ${choices.join(", ")}.`);
}
