// Memoization of the search: skips a state if it or a state that dominates it was already tried.
import type { Operation, State } from "./checker.ts";

export interface Memory {
  /** Values that a read or condition names. All other values are equivalent, except for absence. */
  readonly named: ReadonlySet<State>;
  /** Records a state; returns false if it was tried with the same or fewer unknown operations. */
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
      const position = `${shown(state, named)}|${placementOf(known)}`;
      const spent = bitsOf(unknown);
      const before = tried.get(position);
      // Operations with unknown outcome are optional, so a state with fewer of them covers this
      // state.
      if (before?.some((less) => (less & ~spent) === 0n)) return false;
      size++;
      if (before === undefined) tried.set(position, [spent]);
      else before.push(spent);
      return true;
    },
  };
}

/** Returns the kind of each unknown operation: operations of equal kind are interchangeable. */
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

/** Returns a compact key of the placed operations, nearly all of which are at the beginning. */
function placementOf(placed: Uint8Array): string {
  let low = 0;
  while (placed[low] === 1) low++;
  let text = String(low);
  for (let i = low; i < placed.length; i++) if (placed[i] === 1) text += `,${i}`;
  return text;
}
