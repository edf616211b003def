// Metrics as plain data, which processes send to the supervisor to be added up. Counters and
// histograms of an ended process stay in the sum, so that totals never decrease; gauges do not.

/** A table has several numbers for each series. It is for the console and not in Prometheus's text. */
export type FamilyType = "counter" | "gauge" | "histogram" | "table";

export interface MetricDescription {
  /** Prometheus name: starts with store_ and contains the unit; counters end in _total. */
  readonly name: string;
  /** Description in one line. */
  readonly help: string;
  /** Names of the labels whose values identify a series. */
  readonly labels?: readonly string[];
}

/** One number, or for a histogram: a count per bound, a count above the last bound, and the sum. */
export type Numbers = readonly number[];

export interface Family extends Required<MetricDescription> {
  readonly type: FamilyType;
  /** Inclusive upper bounds of a histogram's counts. */
  readonly bounds: readonly number[];
  readonly series: readonly (readonly [labels: readonly string[], numbers: Numbers])[];
}

export type Snapshot = readonly Family[];

/** Adds up series with the same labels; families keep the order of their first occurrence. */
export function mergeSnapshots(snapshots: readonly Snapshot[]): Snapshot {
  const families = new Map<string, { family: Family; series: Map<string, [readonly string[], number[]]> }>();
  for (const family of snapshots.flat()) {
    const entry = families.get(family.name) ?? { family, series: new Map() };
    families.set(family.name, entry);
    for (const [labels, numbers] of family.series) {
      const name = JSON.stringify(labels);
      const sum = entry.series.get(name);
      if (sum === undefined) entry.series.set(name, [labels, [...numbers]]);
      else for (const [i, number] of numbers.entries()) sum[1][i] = (sum[1][i] ?? 0) + number;
    }
  }
  return [...families.values()].map(({ family, series }) => ({ ...family, series: [...series.values()] }));
}

/**
 * Returns the part of a snapshot that still counts after the process has ended. Each process limits
 * the series of a table, but the sum of all that have ended would grow without a limit.
 */
export function withoutGauges(snapshot: Snapshot): Snapshot {
  return snapshot.filter(({ type }) => type !== "gauge" && type !== "table");
}

/** Adds up all matching series of a family; returns an empty array for an unknown name. */
export function sumSeries(
  snapshot: Snapshot,
  name: string,
  matches: (labels: readonly string[]) => boolean = () => true,
): number[] {
  const sum: number[] = [];
  for (const family of snapshot) {
    if (family.name !== name) continue;
    for (const [labels, numbers] of family.series) {
      if (!matches(labels)) continue;
      for (const [i, number] of numbers.entries()) sum[i] = (sum[i] ?? 0) + number;
    }
  }
  return sum;
}
