// Route for the metrics in the page's charts.
import { ConsoleError, json } from "../../response.ts";
import type { Route } from "../../route.ts";
import type { MetricsDocument } from "../../wire-types.ts";

const metricSpans = ["hour", "day", "week", "month"] as const;
const frontEnds = ["s3", "script", "public", "console", "socket"] as const;

/** Undefined when metrics are off. */
export type ConsoleMetrics =
  | ((
      span: (typeof metricSpans)[number],
      frontEnd: (typeof frontEnds)[number] | undefined,
    ) => Promise<MetricsDocument>)
  | undefined;

export function metricsRoutes(metrics: ConsoleMetrics): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/metrics",
      needs: { right: "view", on: "store" },
      async run({ query }) {
        if (metrics === undefined) {
          throw new ConsoleError(404, "Metrics are off on this server.", {
            hint: "Start the server without --no-metrics.",
          });
        }
        const span = parseChoice(metricSpans, "span", query.optional("span") ?? "hour");
        const frontEnd = query.optional("face");
        return json(
          await metrics(span, frontEnd === undefined ? undefined : parseChoice(frontEnds, "face", frontEnd)),
        );
      },
    },
  ];
}

function parseChoice<T extends string>(choices: readonly T[], name: string, given: string): T {
  const found = choices.find((one) => one === given);
  if (found !== undefined) return found;
  throw new ConsoleError(400, `"${name}" must be one of ${choices.join(", ")}.`);
}
