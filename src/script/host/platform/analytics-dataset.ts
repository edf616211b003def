// `env.<binding>` of a dataset for data points. Scripts can only write to a dataset, so dropping the data is safe.
export class AnalyticsDataset {
  /** Drops the data point. */
  writeDataPoint(point?: unknown): void {
    if (point === undefined || (typeof point === "object" && point !== null)) return;
    throw new TypeError("writeDataPoint() takes an object.");
  }
}
