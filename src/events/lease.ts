// A lease, so that only one of several processes delivers. The holder regularly renews a document.
// Other processes detect with their own clocks that renewals have stopped, and take over.
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { Documents } from "../engine/records.ts";
import { isCount, isFields } from "../model/shape.ts";

export interface Lease {
  /** Returns whether this process holds the lease. Call it before each delivery. */
  acquire(): Promise<boolean>;
  /** Lets another process acquire the lease immediately. */
  release(): Promise<void>;
}

export interface LeaseTimes {
  readonly renew: number;
  /** Time without renewal after which the lease is free. */
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

  /** Whether the holder is this process, has exited, or did not renew in time. */
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

  /** Renews the lease during a long delivery, or releases it if `acquire` is no longer called. */
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
        // If the store is unavailable, the next interval retries.
        timer = setInterval(() => void renewOrRelease().catch(() => {}), times.renew).unref();
      }
      return isHolder;
    },
    release,
  };
}

/** Whether the process ran on this host and has exited. Other hosts cannot be checked. */
function isProcessGone(text: string): boolean {
  try {
    const holder: unknown = JSON.parse(text);
    if (!isFields(holder) || holder.host !== hostname() || !isCount(holder.pid)) return false;
    process.kill(holder.pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
