// What the server has done of late, for the page's charts.
import { ConsoleError, json } from "../response.ts";
import type { Route } from "../route.ts";
import type { MetricsDocument } from "../wire-types.ts";

const metricSpans = ["hour", "day", "week"] as const;
const metricFaces = ["s3", "script", "public", "console"] as const;

/** Undefined when nothing is counted. */
export type ConsoleMetrics =
  | ((
      span: (typeof metricSpans)[number],
      face: (typeof metricFaces)[number] | undefined,
    ) => Promise<MetricsDocument>)
  | undefined;

export function metricsRoutes(metrics: ConsoleMetrics): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/metrics",
      async run({ query }) {
        if (metrics === undefined) {
          throw new ConsoleError(404, "Nothing is counted on this server.", {
            hint: "Start it without --no-metrics.",
          });
        }
        const span = chosen(metricSpans, "span", query.optional("span") ?? "hour");
        const face = query.optional("face");
        return json(await metrics(span, face === undefined ? undefined : chosen(metricFaces, "face", face)));
      },
    },
  ];
}

function chosen<T extends string>(known: readonly T[], name: string, given: string): T {
  const found = known.find((one) => one === given);
  if (found !== undefined) return found;
  throw new ConsoleError(400, `"${name}" must be one of ${known.join(", ")}.`);
}
