// Figures as they pass between processes: plain data, which can be added up. Counters and histograms of a process that has
// ended stay in the sum, so that nothing ever goes back; what it had open is gone with it.

export type FamilyType = "counter" | "gauge" | "histogram";

export interface MetricDescription {
  /** As Prometheus has it: store_…, with its unit, counters ending in _total. */
  readonly name: string;
  /** One line. */
  readonly help: string;
  /** Names of labels; their values tell one series from the other. */
  readonly labels?: readonly string[];
}

/** A counter or gauge is one number. A histogram: how many per bound, how many beyond the last, and the sum. */
export type Numbers = readonly number[];

export interface Family extends Required<MetricDescription> {
  readonly type: FamilyType;
  /** Of a histogram: up to which value, that one included, each of its numbers counts. */
  readonly bounds: readonly number[];
  readonly series: readonly (readonly [labels: readonly string[], numbers: Numbers])[];
}

export type Snapshot = readonly Family[];

/** Families in the order in which they are first met, series by their labels. */
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

/** What stays of a process that has ended. */
export function withoutGauges(snapshot: Snapshot): Snapshot {
  return snapshot.filter(({ type }) => type !== "gauge");
}

/** All series of a family, added up; none when it is not there. */
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
