// What the search has tried already, so that no order is tried twice, nor one that could only do worse than another.
import type { Operation, State } from "./checker.ts";

export interface Memory {
  /** The values that some answer or condition names: what else is there can be told from nothing but from absence. */
  readonly named: ReadonlySet<State>;
  /** Remembers what is placed; false when it was tried with the same unknown operations placed, or fewer of them. */
  isNew(state: State, known: Uint8Array, unknown: Uint8Array): boolean;
  size(): number;
}

export function createMemory(operations: readonly Operation[]): Memory {
  const named = namedIn(operations);
  const tried = new Map<string, bigint[]>();
  let size = 0;
  return {
    named,
    size: () => size,
    isNew(state, known, unknown) {
      const place = `${shown(state, named)}|${placementOf(known)}`;
      const spent = bitsOf(unknown);
      const before = tried.get(place);
      // An unknown operation need not have happened: whoever has more of them left can do all that others can.
      if (before?.some((less) => (less & ~spent) === 0n)) return false;
      size++;
      if (before === undefined) tried.set(place, [spent]);
      else before.push(spent);
      return true;
    },
  };
}

/** For each unknown operation what it can do to the key: the same for those that are as good as each other. */
export function kindsOf(unknown: readonly Operation[], named: ReadonlySet<State>): string[] {
  return unknown.map(({ action }) => {
    const seen = "seen" in action ? action.seen : "";
    return `${action.kind} ${seen} ${shown(action.value, named)}`;
  });
}

function namedIn(operations: readonly Operation[]): Set<State> {
  const named = new Set<State>([null]);
  for (const { action } of operations) {
    if (action.kind === "read") named.add(action.value);
    if (action.kind === "replace") named.add(action.seen);
  }
  return named;
}

function shown(state: State, named: ReadonlySet<State>): string {
  return named.has(state) ? String(state) : "?";
}

function bitsOf(placed: Uint8Array): bigint {
  let bits = 0n;
  for (const [i, one] of placed.entries()) if (one === 1) bits |= 1n << BigInt(i);
  return bits;
}

/** Short, since nearly all placed operations are at the beginning. */
function placementOf(placed: Uint8Array): string {
  let low = 0;
  while (placed[low] === 1) low++;
  let text = String(low);
  for (let i = low; i < placed.length; i++) if (placed[i] === 1) text += `,${i}`;
  return text;
}
