// Formats a snapshot in Prometheus's text format, version 0.0.4.
import type { Family, Numbers, Snapshot } from "./snapshot.ts";

export const prometheusType = "text/plain; version=0.0.4; charset=utf-8";

export function prometheusText(snapshot: Snapshot): string {
  return snapshot.map((family) => (family.type === "table" ? "" : familyText(family))).join("");
}

function familyText(family: Family): string {
  const { name, help, type, series } = family;
  const lines = series.flatMap(([values, numbers]) => {
    const labels = family.labels.map((label, i) => pair(label, values[i] ?? ""));
    return type === "histogram"
      ? histogramLines(family, labels, numbers)
      : [line(name, labels, numbers[0] ?? 0)];
  });
  return [`# HELP ${name} ${escapedHelp(help)}`, `# TYPE ${name} ${type}`, ...lines, ""].join("\n");
}

/** Buckets are cumulative: each counts all values up to its bound, and the last counts all. */
function histogramLines({ name, bounds }: Family, labels: readonly string[], numbers: Numbers): string[] {
  let count = 0;
  const buckets = [...bounds, Number.POSITIVE_INFINITY].map((bound, i) => {
    count += numbers[i] ?? 0;
    return line(`${name}_bucket`, [...labels, pair("le", numberText(bound))], count);
  });
  const sum = numbers[bounds.length + 1] ?? 0;
  return [...buckets, line(`${name}_sum`, labels, sum), line(`${name}_count`, labels, count)];
}

function line(name: string, labels: readonly string[], value: number): string {
  return `${name}${labels.length === 0 ? "" : `{${labels.join(",")}}`} ${numberText(value)}`;
}

function pair(label: string, value: string): string {
  return `${label}="${value.replace(/[\\"\n]/g, (c) => (c === "\n" ? "\\n" : `\\${c}`))}"`;
}

function escapedHelp(text: string): string {
  return text.replace(/[\\\n]/g, (c) => (c === "\n" ? "\\n" : "\\\\"));
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
}
