// The faults that are injected into a cluster under load. Each simulates a machine that dies or
// freezes. All faults have the same checks, in fault-round.ts.
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../support/random.ts";
import type { Environment } from "./environment.ts";
import type { Loads } from "./loads.ts";

export interface Scene {
  readonly environment: Environment;
  readonly loads: Loads;
  readonly random: Random;
  /** Returns the time in nanoseconds, on the clock of the operation logs. */
  readonly now: () => number;
  /** Milliseconds without a heartbeat after which a process counts as dead. */
  readonly silence: number;
}

export interface InjectedFault {
  /** Time at which the database leader died or froze. */
  readonly leaderDied?: number;
  /** Set if the fault froze a Store process, whose response times are then not checked. */
  readonly stoodStill?: true;
}

export interface Fault {
  readonly name: string;
  /** Causes the fault; resolves when everything that failed is running again. */
  inject(scene: Scene): Promise<InjectedFault>;
}

const storeKill: Fault = {
  name: "Store process killed",
  async inject({ loads, random }) {
    await loads.replace(random.below(loads.size));
    return {};
  },
};

const storeFreeze: Fault = {
  name: "Store process frozen, marked as dead, thawed",
  async inject({ loads, random, silence }) {
    const victim = random.below(loads.size);
    const others = Array.from({ length: loads.size }, (_, i) => i).filter((i) => i !== victim);
    loads.signal(victim, "SIGSTOP");
    // The other processes continue, and remove the unfinished writes of the frozen process.
    await delay(silence * 2);
    await loads.waitForWrites(20, others);
    loads.signal(victim, "SIGCONT");
    return { stoodStill: true };
  },
};

const osdKill: Fault = {
  name: "OSD killed",
  async inject({ environment: { ceph }, loads, random }) {
    const victim = `osd.${random.below(3)}` as const;
    await ceph.kill(victim);
    await loads.waitForWrites(20);
    await ceph.restart(victim);
    await ceph.healed();
    return {};
  },
};

const gatewayKill: Fault = {
  name: "radosgw killed",
  async inject({ environment: { ceph }, loads, random }) {
    const victim = random.below(2);
    await ceph.kill(`rgw.${victim}`);
    // The other Store process continues, because it uses the other radosgw.
    await loads.waitForWrites(20, [1 - victim]);
    await refused(loads, [victim]);
    await ceph.restart(`rgw.${victim}`);
    return {};
  },
};

const gatewaysFreeze: Fault = {
  name: "both radosgw frozen",
  async inject({ environment: { ceph }, loads }) {
    for (const i of [0, 1] as const) await ceph.kill(`rgw.${i}`, "SIGSTOP");
    await refused(loads);
    for (const i of [0, 1] as const) await ceph.kill(`rgw.${i}`, "SIGCONT");
    return {};
  },
};

const leaderKill: Fault = {
  name: "PostgreSQL leader killed",
  async inject({ environment: { patroni }, loads, now }) {
    const leader = await patroni.leader();
    const leaderDied = now();
    await patroni.kill(leader);
    await loads.waitForWrites(10);
    await patroni.restart(leader);
    return { leaderDied };
  },
};

const leaderFreeze: Fault = {
  name: "PostgreSQL leader frozen, replaced, thawed",
  async inject({ environment: { patroni }, loads, now, random }) {
    const leader = await patroni.leader();
    const leaderDied = now();
    await patroni.kill(leader, "SIGSTOP");
    await loads.waitForWrites(20);
    // In half of the rounds Patroni stays frozen at first, so PostgreSQL still acts as the primary.
    patroni.signal(leader, "postgres", "SIGCONT");
    if (random.below(2) === 0) await loads.waitForWrites(100);
    patroni.signal(leader, "patroni", "SIGCONT");
    await patroni.whole();
    return { leaderDied };
  },
};

const databaseFreeze: Fault = {
  name: "all of PostgreSQL frozen",
  async inject({ environment: { patroni }, loads }) {
    const nodes = patroni.nodes.map((_, i) => i);
    for (const node of nodes) await patroni.kill(node, "SIGSTOP");
    await refused(loads);
    for (const node of nodes) await patroni.kill(node, "SIGCONT");
    await patroni.whole();
    return {};
  },
};

/** Waits until each of these processes got the error that the service is unavailable. */
async function refused(loads: Loads, which = Array.from({ length: loads.size }, (_, i) => i)): Promise<void> {
  const before = which.map((i) => loads.counts(i).refusals);
  await loads.until("Store reports that the service is unavailable", () =>
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
