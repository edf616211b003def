// The faults: what is done to a cluster under load, each as when a machine dies or stands still. How it must come
// through is the same for all, and checked in fault-round.ts.
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../support/random.ts";
import type { Environment } from "./environment.ts";
import type { Loads } from "./loads.ts";

export interface Scene {
  readonly environment: Environment;
  readonly loads: Loads;
  readonly random: Random;
  /** Nanoseconds, on the clock of the histories. */
  readonly now: () => number;
  /** How long a process may be silent until it is taken for dead, in milliseconds. */
  readonly silence: number;
}

export interface Strike {
  /** When the leader of the database died or stood still. */
  readonly leaderDied?: number;
  /** Whether a Store process itself stood still: how long its answers took says nothing then. */
  readonly stoodStill?: true;
}

export interface Fault {
  readonly name: string;
  /** Returns when all that was taken away is back. */
  strike(scene: Scene): Promise<Strike>;
}

const storeKill: Fault = {
  name: "Store process killed",
  async strike({ loads, random }) {
    await loads.replace(random.below(loads.size));
    return {};
  },
};

const storeFreeze: Fault = {
  name: "Store process frozen, taken for dead, thawed",
  async strike({ loads, random, silence }) {
    const victim = random.below(loads.size);
    const others = Array.from({ length: loads.size }, (_, i) => i).filter((i) => i !== victim);
    loads.signal(victim, "SIGSTOP");
    // The others go on, and clear away what it was writing.
    await delay(silence * 2);
    await loads.goOn(20, others);
    loads.signal(victim, "SIGCONT");
    return { stoodStill: true };
  },
};

const osdKill: Fault = {
  name: "OSD killed",
  async strike({ environment: { ceph }, loads, random }) {
    const victim = `osd.${random.below(3)}` as const;
    await ceph.kill(victim);
    await loads.goOn(20);
    await ceph.restart(victim);
    await ceph.healed();
    return {};
  },
};

const gatewayKill: Fault = {
  name: "radosgw killed",
  async strike({ environment: { ceph }, loads, random }) {
    const victim = random.below(2);
    await ceph.kill(`rgw.${victim}`);
    // Every other Store process goes through the other one.
    await loads.goOn(20, [1 - victim]);
    await refused(loads, [victim]);
    await ceph.restart(`rgw.${victim}`);
    return {};
  },
};

const gatewaysFreeze: Fault = {
  name: "both radosgw frozen",
  async strike({ environment: { ceph }, loads }) {
    for (const i of [0, 1] as const) await ceph.kill(`rgw.${i}`, "SIGSTOP");
    await refused(loads);
    for (const i of [0, 1] as const) await ceph.kill(`rgw.${i}`, "SIGCONT");
    return {};
  },
};

const leaderKill: Fault = {
  name: "PostgreSQL leader killed",
  async strike({ environment: { patroni }, loads, now }) {
    const leader = await patroni.leader();
    const leaderDied = now();
    await patroni.kill(leader);
    await loads.goOn(10);
    await patroni.restart(leader);
    return { leaderDied };
  },
};

const leaderFreeze: Fault = {
  name: "PostgreSQL leader frozen, replaced, thawed",
  async strike({ environment: { patroni }, loads, now, random }) {
    const leader = await patroni.leader();
    const leaderDied = now();
    await patroni.kill(leader, "SIGSTOP");
    await loads.goOn(20);
    // Every other time nobody watches over it at first: it takes itself for the primary then.
    patroni.signal(leader, "postgres", "SIGCONT");
    if (random.below(2) === 0) await loads.goOn(100);
    patroni.signal(leader, "patroni", "SIGCONT");
    await patroni.whole();
    return { leaderDied };
  },
};

const databaseFreeze: Fault = {
  name: "all of PostgreSQL frozen",
  async strike({ environment: { patroni }, loads }) {
    const nodes = patroni.nodes.map((_, i) => i);
    for (const node of nodes) await patroni.kill(node, "SIGSTOP");
    await refused(loads);
    for (const node of nodes) await patroni.kill(node, "SIGCONT");
    await patroni.whole();
    return {};
  },
};

/** Until each of them has been told that the service is not available. */
async function refused(loads: Loads, which = Array.from({ length: loads.size }, (_, i) => i)): Promise<void> {
  const before = which.map((i) => loads.counts(i).refusals);
  await loads.until("Store tells that the service is not available", () =>
    which.every((i, n) => loads.counts(i).refusals > before[n]!),
  );
}

export const faults: readonly Fault[] = [
  storeKill,
  storeFreeze,
  osdKill,
  gatewayKill,
  gatewaysFreeze,
  leaderKill,
  leaderFreeze,
  databaseFreeze,
];
