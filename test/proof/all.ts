// Every proof there is, in the order of the long run.
import type { Proof } from "./proof.ts";

export const proofs: readonly Proof[] = [];
