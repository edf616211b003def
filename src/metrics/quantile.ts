// Estimates a quantile of a histogram.
import type { Numbers } from "./snapshot.ts";

/** Interpolates between bounds. Values above the last bound count as that bound. */
export function quantile(numbers: Numbers, bounds: readonly number[], share: number): number | undefined {
  const counts = bounds.map((_, i) => numbers[i] ?? 0);
  const beyond = numbers[bounds.length] ?? 0;
  const all = counts.reduce((sum, count) => sum + count, beyond);
  if (all === 0) return undefined;
  const rank = share * all;
  let before = 0;
  for (const [i, count] of counts.entries()) {
    if (before + count >= rank && count > 0) {
      const low = i === 0 ? 0 : bounds[i - 1]!;
      return low + (bounds[i]! - low) * ((rank - before) / count);
    }
    before += count;
  }
  return bounds.at(-1);
}
