// What the buckets of one account contain, as far as this process knows. Far from the quota, a recent
// measurement is enough; near it, each put waits for a measurement that starts after its request.
import type { Quota, Usage } from "../../model/settings/quota.ts";

export interface AccountUsage {
  /** Measures the usage if the growth may come near the quota. Call it before `current`. */
  refresh(quota: Quota, growth: Usage): Promise<void>;
  /** Returns an upper bound that includes all puts of this process, also those in flight. */
  current(): Usage;
  /** Counts a put that is about to be committed. Returns a function to call after its commit. */
  begin(growth: Usage): (outcome: "committed" | "not committed") => void;
}

/** A measurement this old is used only if all puts since then cannot come near the quota. */
const maxAgeMilliseconds = 100;
const farBytes = 1024 ** 3;
const farObjects = 100_000;
/** A larger put never relies on an earlier measurement. */
const largeBytes = 64 * 1024 ** 2;

interface Sum {
  bytes: number;
  objects: number;
}

export function createAccountUsage(measure: () => Promise<Usage>, now: () => number): AccountUsage {
  let measured: { readonly usage: Usage; readonly at: number } | undefined;
  /** Growth of puts in flight, and of committed puts that no measurement has seen yet. */
  const inFlight: Sum = { bytes: 0, objects: 0 };
  const committed: Sum = { bytes: 0, objects: 0 };
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  async function run(): Promise<void> {
    const at = now();
    // These were committed before the measurement, so it counts them.
    const seen = { bytes: committed.bytes, objects: committed.objects };
    const usage = await measure();
    add(committed, seen, -1);
    measured = { usage, at };
  }

  /** A measurement in flight may have started before the caller's request, so wait for the next. */
  function measureNow(): Promise<void> {
    if (running === undefined) {
      running = run().finally(() => {
        running = undefined;
      });
      return running;
    }
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        return measureNow();
      });
    return next;
  }

  function current(): Usage {
    const { bytes, objects } = measured!.usage;
    return {
      bytes: bytes + inFlight.bytes + committed.bytes,
      objects: objects + inFlight.objects + committed.objects,
    };
  }

  function isFarFrom(quota: Quota, growth: Usage): boolean {
    if (measured === undefined || Math.abs(now() - measured.at) >= maxAgeMilliseconds) return false;
    if (growth.bytes > largeBytes) return false;
    const { bytes, objects } = current();
    return (
      bytes + growth.bytes + farBytes <= (quota.bytes ?? Number.POSITIVE_INFINITY) &&
      objects + growth.objects + farObjects <= (quota.objects ?? Number.POSITIVE_INFINITY)
    );
  }

  return {
    async refresh(quota, growth) {
      if (!isFarFrom(quota, growth)) await measureNow();
    },
    current,
    begin(growth) {
      add(inFlight, growth, 1);
      return (outcome) => {
        add(inFlight, growth, -1);
        if (outcome === "committed") add(committed, growth, 1);
      };
    },
  };
}

function add(sum: Sum, { bytes, objects }: Usage, sign: 1 | -1): void {
  sum.bytes += sign * bytes;
  sum.objects += sign * objects;
}
