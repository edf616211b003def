// Counters, gauges and histograms of one process. A series is looked up by its labels once. It is a
// plain array of numbers, so counting is one addition.
import type { Family, FamilyType, MetricDescription, Snapshot } from "./snapshot.ts";

export interface Counter {
  add(amount: number): void;
}

export interface Histogram {
  observe(value: number): void;
}

/** Returns the series with these label values, in the order of the labels. */
export type Labelled<T> = (...labels: readonly string[]) => T;

export interface Metrics {
  counter(description: MetricDescription): Labelled<Counter>;
  /** Adding a negative amount decreases the gauge. */
  gauge(description: MetricDescription): Labelled<Counter>;
  histogram(description: MetricDescription, bounds: readonly number[]): Labelled<Histogram>;
  /** Adds a metric whose values are kept elsewhere; `read` is called for each snapshot. */
  addReading(
    description: MetricDescription,
    type: "counter" | "gauge",
    read: () => Iterable<readonly [labels: readonly string[], value: number]>,
  ): void;
  /** Adds a histogram whose values are kept elsewhere; `read` is called for each snapshot. */
  addHistogramReading(
    description: MetricDescription,
    bounds: readonly number[],
    read: () => Family["series"],
  ): void;
  /** Adds a table whose values are kept elsewhere; `read` is called for each snapshot. */
  addTable(description: MetricDescription, read: () => Family["series"]): void;
  snapshot(): Snapshot;
}

/** Histogram bounds for durations in seconds, from an index read to the upload of a large body. */
export const secondsBounds: readonly number[] = [
  ...[0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05],
  ...[0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
];

/** Adds a value to a histogram's numbers: one per bound, one above the last bound, and the sum. */
export function observe(
  numbers: { [index: number]: number },
  bounds: readonly number[],
  value: number,
): void {
  let i = 0;
  while (i < bounds.length && value > bounds[i]!) i++;
  numbers[i]!++;
  numbers[bounds.length + 1]! += value;
}

export function createMetrics(): Metrics {
  const families: (() => Family)[] = [];

  function family(
    type: FamilyType,
    description: MetricDescription,
    bounds: readonly number[],
    series: () => Family["series"],
  ): void {
    families.push(() => ({ labels: [], ...description, type, bounds, series: series() }));
  }

  function labelled<T>(
    type: FamilyType,
    description: MetricDescription,
    { bounds, make }: { readonly bounds: readonly number[]; readonly make: (numbers: number[]) => T },
  ): Labelled<T> {
    const series = new Map<string, { labels: readonly string[]; numbers: number[]; made: T }>();
    family(type, description, bounds, () =>
      [...series.values()].map(({ labels, numbers }) => [labels, numbers]),
    );
    return (...labels) => {
      const name = JSON.stringify(labels);
      const existing = series.get(name);
      if (existing !== undefined) return existing.made;
      const numbers = type === "histogram" ? new Array<number>(bounds.length + 2).fill(0) : [0];
      const made = make(numbers);
      series.set(name, { labels, numbers, made });
      return made;
    };
  }

  const createCounter = (numbers: number[]): Counter => ({
    add(amount) {
      numbers[0]! += amount;
    },
  });

  return {
    counter: (description) => labelled("counter", description, { bounds: [], make: createCounter }),
    gauge: (description) => labelled("gauge", description, { bounds: [], make: createCounter }),
    histogram: (description, bounds) =>
      labelled("histogram", description, {
        bounds,
        make: (numbers) => ({ observe: (value) => observe(numbers, bounds, value) }),
      }),
    addReading: (description, type, read) =>
      family(type, description, [], () => [...read()].map(([labels, value]) => [labels, [value]])),
    addHistogramReading: (description, bounds, read) => family("histogram", description, bounds, read),
    addTable: (description, read) => family("table", description, [], read),
    snapshot: () => families.map((read) => read()),
  };
}
