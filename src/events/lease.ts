// Which of several processes on one store delivers: the one whose name stands in a document that it renews while it
// has something to do. No two clocks are compared: one that was not renewed for a while, by the watcher's own clock,
// is free. Two who deliver at once do no harm but to send some events twice.
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { Documents } from "../engine/records.ts";

export interface Lease {
  /** Whether this process delivers; asked before each piece of work. */
  acquire(): Promise<boolean>;
  /** Leaves it to others at once. */
  release(): Promise<void>;
}

export interface LeaseTimes {
  readonly renew: number;
  /** Without a sign of life for so long, the holder is taken for dead. */
  readonly stale: number;
}

const kind = "delivery lease";
const defaultTimes: LeaseTimes = { renew: 2000, stale: 10_000 };

interface Holder {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
}

export function createLease(documents: Documents, name: string, times: LeaseTimes = defaultTimes): Lease {
  const self: Holder = { id: randomBytes(8).toString("hex"), host: hostname(), pid: process.pid };
  const text = JSON.stringify(self);
  let isHolder = false;
  let lastRenewed = 0;
  let lastAcquire = 0;
  let renewing: Promise<boolean> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let lastSeen: { readonly revision: number; readonly since: number } | undefined;

  /** Whether whoever has it can be taken for gone. */
  function isFree(revision: number, holder: string): boolean {
    if (holder === text || isProcessGone(holder)) return true;
    const now = performance.now();
    if (lastSeen?.revision !== revision) lastSeen = { revision, since: now };
    return now - lastSeen.since > times.stale;
  }

  async function renew(): Promise<boolean> {
    const found = await documents.get(kind, name);
    if (found !== undefined && !isFree(found.revision, found.text)) return false;
    if ((await documents.put(kind, name, text, found?.revision)) === "conflict") return false;
    lastRenewed = performance.now();
    return true;
  }

  function renewOnce(): Promise<boolean> {
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  /** While a delivery takes its time, and as long as there was something to do of late. */
  async function renewOrRelease(): Promise<void> {
    if (performance.now() - lastAcquire > times.stale) await release();
    else isHolder = await renewOnce();
    if (!isHolder) clearInterval(timer);
  }

  async function release(): Promise<void> {
    clearInterval(timer);
    timer = undefined;
    if (!isHolder) return;
    isHolder = false;
    if ((await documents.get(kind, name))?.text === text) await documents.delete(kind, name);
  }

  return {
    async acquire() {
      lastAcquire = performance.now();
      if (isHolder && lastAcquire - lastRenewed < times.stale) return true;
      isHolder = await renewOnce();
      if (isHolder) {
        clearInterval(timer);
        // A store that cannot be reached now is asked again with the next round.
        timer = setInterval(() => void renewOrRelease().catch(() => {}), times.renew).unref();
      }
      return isHolder;
    },
    release,
  };
}

/** A process of this very machine that is no more; of others nothing is known. */
function isProcessGone(text: string): boolean {
  try {
    const { host, pid } = JSON.parse(text) as Holder;
    if (host !== hostname()) return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
