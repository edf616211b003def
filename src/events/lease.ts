// Which of several processes on one store delivers: the one whose name stands in a document that it renews while it
// has something to do. No two clocks are compared: one that was not renewed for a while, by the watcher's own clock,
// is free. Two who deliver at once do no harm but to send some events twice.
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { Documents } from "../engine/records.ts";

export interface Lease {
  /** Whether this process delivers; asked before each piece of work. */
  hold(): Promise<boolean>;
  /** Leaves it to others at once. */
  release(): Promise<void>;
}

export interface LeaseTimes {
  readonly renew: number;
  /** Without a sign of life for so long, the holder is taken for dead. */
  readonly stale: number;
}

const kind = "delivery lease";
const usualTimes: LeaseTimes = { renew: 2000, stale: 10_000 };

interface Holder {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
}

export function createLease(documents: Documents, name: string, times: LeaseTimes = usualTimes): Lease {
  const own: Holder = { id: randomBytes(8).toString("hex"), host: hostname(), pid: process.pid };
  const text = JSON.stringify(own);
  let isHeld = false;
  let renewed = 0;
  let asked = 0;
  let renewing: Promise<boolean> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let seen: { readonly revision: number; readonly since: number } | undefined;

  /** Whether whoever has it can be taken for gone. */
  function isFree(revision: number, holder: string): boolean {
    if (holder === text || isDead(holder)) return true;
    const now = performance.now();
    if (seen?.revision !== revision) seen = { revision, since: now };
    return now - seen.since > times.stale;
  }

  async function renew(): Promise<boolean> {
    const found = await documents.get(kind, name);
    if (found !== undefined && !isFree(found.revision, found.text)) return false;
    if ((await documents.put(kind, name, text, found?.revision)) === "conflict") return false;
    renewed = performance.now();
    return true;
  }

  function renewOnce(): Promise<boolean> {
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  /** While a delivery takes its time, and as long as there was something to do of late. */
  async function keepUp(): Promise<void> {
    if (performance.now() - asked > times.stale) await leave();
    else isHeld = await renewOnce();
    if (!isHeld) clearInterval(timer);
  }

  async function leave(): Promise<void> {
    clearInterval(timer);
    timer = undefined;
    if (!isHeld) return;
    isHeld = false;
    if ((await documents.get(kind, name))?.text === text) await documents.delete(kind, name);
  }

  return {
    async hold() {
      asked = performance.now();
      if (isHeld && asked - renewed < times.stale) return true;
      isHeld = await renewOnce();
      if (isHeld) {
        clearInterval(timer);
        // A store that cannot be reached now is asked again with the next round.
        timer = setInterval(() => void keepUp().catch(() => {}), times.renew).unref();
      }
      return isHeld;
    },
    release: leave,
  };
}

/** A process of this very machine that is no more; of others nothing is known. */
function isDead(text: string): boolean {
  try {
    const { host, pid } = JSON.parse(text) as Holder;
    if (host !== hostname()) return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
