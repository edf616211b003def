// Dataset binding in env. Scripts can only write to a dataset, so discarding the data is safe.
export class AnalyticsDataset {
  /** Validates and discards the data point. */
  writeDataPoint(point?: unknown): void {
    if (point === undefined || (typeof point === "object" && point !== null)) return;
    throw new TypeError("writeDataPoint() takes an object.");
  }
}
