// The interface of an overload phase, and the scale of the phases in a long and in a short run.
import type { OverloadScene } from "./scene.ts";
import { type Nuisance, nuisances } from "./script.ts";

/** Counts reported for the phase. */
export type PhaseCounts = Readonly<Record<string, number>>;

export interface Phase {
  readonly name: string;
  /** Processes that the phase may cause the server to replace. */
  readonly replaces: "nothing" | "scripts";
  run(scene: OverloadScene, scale: Scale): Promise<PhaseCounts>;
}

export interface Scale {
  readonly idleConnections: number;
  readonly bursts: number;
  readonly burstConnections: number;
  /** Bursts of this many connections that each send a request, on each port. */
  readonly requestBursts: number;
  readonly slowClients: number;
  readonly pipelinedRequests: number;
  readonly wrongSignatures: number;
  readonly honestRequests: number;
  readonly busyProcesses: number;
  readonly nuisances: readonly Nuisance[];
  /** How long connections are held open. */
  readonly holdMilliseconds: number;
}

export const longScale: Scale = {
  idleConnections: 10_000,
  bursts: 20,
  burstConnections: 5000,
  requestBursts: 3,
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
  requestBursts: 1,
  slowClients: 200,
  pipelinedRequests: 500,
  wrongSignatures: 1000,
  honestRequests: 200,
  busyProcesses: 20,
  // Only nuisances that end soon: a looping script takes ten seconds to be replaced.
  nuisances: ["exit", "log", "ipc"],
  holdMilliseconds: 1000,
};

/** Hostile clients use the addresses 127.0.0.N in this range; probe and writer use 127.0.0.1. */
export const hostileAddresses = [2, 40] as const;

/** Waits while the load continues, for a fixed time: there is no event to wait for. */
export function hold({ holdMilliseconds }: Scale): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, holdMilliseconds));
}

/** Returns each attacker process's share of a number of clients. */
export function share(total: number, among: number): number {
  return Math.ceil(total / among);
}
