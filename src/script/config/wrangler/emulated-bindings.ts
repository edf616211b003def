// Bindings of a wrangler file that Store emulates without a service: rate limiters, which count per
// process, and datasets, which discard what is written.
import type { DatasetBinding, EmulatedBinding, RateLimiterBinding } from "../../bindings.ts";
import { type Fields, isTable, type Table } from "../syntax/fields.ts";
import type { ConfigPath } from "../syntax/positions.ts";
import { entriesAt, readNamedBinding } from "./bindings.ts";

export interface FoundEmulated {
  readonly emulated: EmulatedBinding;
  readonly inView: ConfigPath;
}

/** Periods in seconds that Cloudflare Workers allows. */
const periods: readonly unknown[] = [10, 60];

export function emulatedBindings(fields: Fields, top: Table): readonly FoundEmulated[] {
  const limiters = [
    ...entriesAt(top, ["ratelimits"]),
    ...entriesAt(top, ["unsafe", "bindings"]).filter(({ value }) => value.type === "ratelimit"),
  ];
  return [
    ...limiters.flatMap(({ path, value }) =>
      readNamedBinding(fields, [...path, "name"], value.name, "a rate limiter").map(
        ({ binding, inView }) => ({ emulated: rateLimiter(fields, path, value, binding), inView }),
      ),
    ),
    ...entriesAt(top, ["analytics_engine_datasets"]).flatMap(({ path, value }) =>
      readNamedBinding(fields, [...path, "binding"], value.binding, "a dataset").map(
        ({ binding, inView }) => {
          const emulated: DatasetBinding = { kind: "dataset", binding };
          return { emulated, inView };
        },
      ),
    ),
  ];
}

function rateLimiter(fields: Fields, path: ConfigPath, entry: Table, binding: string): RateLimiterBinding {
  const simple = isTable(entry.simple) ? entry.simple : {};
  const { limit, period } = simple;
  const isLimit = typeof limit === "number" && Number.isSafeInteger(limit) && limit > 0;
  if (!isLimit || !periods.includes(period)) {
    fields.report(isTable(entry.simple) ? [...path, "simple"] : path, {
      message: `The rate limiter "${binding}" needs a limit and a period of 10 or 60 seconds.`,
      hint: `Write: ${fields.source.format === "toml" ? "simple = { limit = 100, period = 60 }" : '"simple": { "limit": 100, "period": 60 }'}`,
    });
  }
  return { kind: "rate limiter", binding, limit: Number(limit), periodSeconds: Number(period) };
}
