// What the runtime's namespaces do differently from the binding of the process tier.
// docs/isolation.md has the same table.
import type { Difference } from "./differences.ts";

export const kvDifferences: readonly Difference[] = [];
