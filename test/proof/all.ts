// Every proof there is, in the order of the long run.
import { power } from "./power.ts";
import type { Proof } from "./proof.ts";

export const proofs: readonly Proof[] = [power];
