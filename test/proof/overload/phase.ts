// A phase of the overload proof, and how large each is in a long run and in its share of `npm run test:slow`.
import type { OverloadScene } from "./scene.ts";
import { type Nuisance, nuisances } from "./script.ts";

/** Counts of what was done, for the table. */
export type PhaseCounts = Readonly<Record<string, number>>;

export interface Phase {
  readonly name: string;
  /** Whether the phase gives a reason to replace the script's processes. */
  readonly replaces: "nothing" | "scripts";
  run(scene: OverloadScene, scale: Scale): Promise<PhaseCounts>;
}

export interface Scale {
  readonly idleConnections: number;
  readonly bursts: number;
  readonly burstConnections: number;
  readonly slowClients: number;
  readonly pipelinedRequests: number;
  readonly wrongSignatures: number;
  readonly honestRequests: number;
  readonly busyProcesses: number;
  readonly nuisances: readonly Nuisance[];
  /** How long what is held is held. */
  readonly holdMilliseconds: number;
}

export const longScale: Scale = {
  idleConnections: 10_000,
  bursts: 20,
  burstConnections: 5000,
  slowClients: 1000,
  pipelinedRequests: 1500,
  wrongSignatures: 20_000,
  honestRequests: 2000,
  busyProcesses: 20,
  nuisances,
  holdMilliseconds: 15_000,
};

export const shortScale: Scale = {
  idleConnections: 2000,
  bursts: 4,
  burstConnections: 2000,
  slowClients: 200,
  pipelinedRequests: 500,
  wrongSignatures: 1000,
  honestRequests: 200,
  busyProcesses: 20,
  // Those that end soon: one that loops is given ten seconds to recover.
  nuisances: ["exit", "log", "ipc"],
  holdMilliseconds: 1000,
};

/** Hostile clients come from these addresses, 127.0.0.N; the probe and the writer from 127.0.0.1. */
export const hostileAddresses = [2, 40] as const;

/** What the load looks like while it lasts is the phase itself, so time is what is waited for. */
export function hold({ holdMilliseconds }: Scale): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, holdMilliseconds));
}

/** Divides a number of clients among the processes that play them. */
export function share(total: number, among: number): number {
  return Math.ceil(total / among);
}
