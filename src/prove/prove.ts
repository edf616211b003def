// Runs the proofs one after another in a new folder on the user's disk, each for its share of the
// time, and reports what held.
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { createConsistencyProof } from "./consistency/consistency.ts";
import { fullDisk } from "./full-disk/full-disk.ts";
import { createKillProof, type KillHooks } from "./kill/kill.ts";
import { describeMachine } from "./machine.ts";
import { type Budget, NotTested, type Proof } from "./proof.ts";
import type { ProofResult, ProveReport } from "./report.ts";
import { rot } from "./rot/rot.ts";

export const proofNames = ["kill", "full disk", "rot", "consistency"] as const;
export type ProofName = (typeof proofNames)[number];

/** Free space that the stores of a run need at a time. */
export const neededBytes = 2 ** 30;

const claims: Readonly<Record<ProofName, string>> = {
  kill:
    "A process that writes is killed with SIGKILL at random moments. Every acknowledged write must be there " +
    "afterwards, whole, and nothing else. The disk keeps its power: a power cut is not simulated.",
  "full disk":
    "A process writes files that must not grow beyond a random limit (RLIMIT_FSIZE), so that writes fail part " +
    "way as on a full disk. The disk itself is not filled. Every acknowledged write must be there afterwards.",
  rot:
    "Bits of the stored files are flipped. Every read must be right or fail, verify must report every flip that " +
    "matters, and no data may be removed.",
  consistency:
    "Processes read, list and write the same keys while some are killed. The recorded history must be " +
    "linearizable: every read saw the latest write.",
};

export interface ProveOptions {
  /** Existing folder on the disk to test. */
  readonly directory: string;
  readonly milliseconds: number;
  readonly seed: number;
  readonly only?: readonly ProofName[] | undefined;
  /** Ends the run after the unit of work in progress. */
  readonly signal?: AbortSignal;
  say(line: string): void;
  /** Faults and further checks, for tests. */
  readonly killHooks?: KillHooks;
}

export async function prove(options: ProveOptions): Promise<ProveReport> {
  const { directory, seed, signal, milliseconds, only = proofNames } = options;
  const begun = Date.now();
  const folder = await mkdtemp(join(directory, "store-prove-"));
  try {
    const results: ProofResult[] = [];
    for (const name of only) {
      if (signal?.aborted) break;
      const end = Date.now() + milliseconds / only.length;
      const budget: Budget = {
        ...{ seed, folder },
        // At least one unit, even if the disk is slow.
        more: (done) => !signal?.aborted && (done === 0 || Date.now() < end),
        say: (line) => options.say(`${name}: ${line}`),
      };
      results.push(await run(name, proofs(options)[name], budget));
    }
    const isInterrupted = signal?.aborted === true;
    const held = !isInterrupted && results.every(({ outcome }) => outcome === "held");
    const seconds = Math.round((Date.now() - begun) / 1000);
    return { seed, machine: describeMachine(directory), seconds, held, isInterrupted, results };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function proofs({ killHooks }: ProveOptions): Readonly<Record<ProofName, Proof>> {
  return {
    kill: createKillProof(killHooks),
    "full disk": fullDisk,
    rot,
    consistency: createConsistencyProof({ name: "consistency", share: 1500, keys: 16 }),
  };
}

async function run(name: ProofName, proof: Proof, budget: Budget): Promise<ProofResult> {
  const begun = Date.now();
  const result = (outcome: ProofResult["outcome"], counts: ProofResult["counts"]) => {
    const seconds = Math.round((Date.now() - begun) / 1000);
    return { name, outcome, claim: claims[name], seconds, counts };
  };
  try {
    const counts = await proof.run(budget);
    return result("held", counts);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ...result(error instanceof NotTested ? "not tested" : "failed", {}), reason };
  }
}
