// What the runtime's buckets do differently from the binding of the process tier.
// docs/isolation.md has the same table.
import type { Difference } from "./differences.ts";

export const bucketDifferences: readonly Difference[] = [];
