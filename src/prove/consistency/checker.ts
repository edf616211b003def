// Checks whether the history of one key is linearizable (Wing and Gong's search with Lowe's
// memoization). Suited to histories of a few hundred operations.
import { createMemory, kindsOf } from "./memory.ts";
import { findContradiction, observed, wordsOf } from "./zones.ts";

/** Maximum number of tried states: more than a correct history needs, so that every search ends. */
const maxTried = 2_000_000;

/** The etag of the key's object, or null if absent. Every value is written only once. */
export type State = string | null;

export type Action =
  /** A put or a delete without a condition. */
  | { readonly kind: "write"; readonly value: State }
  /** A get, a head, or a key's entry in a list. */
  | { readonly kind: "read"; readonly value: State }
  /** Puts only if the key does not exist. */
  | { readonly kind: "create"; readonly value: string; readonly outcome: Outcome }
  /** Puts only if the current version equals `seen`. */
  | {
      readonly kind: "replace";
      readonly seen: string;
      readonly value: string;
      readonly outcome: Outcome;
    };

export type Outcome = "stored" | "refused" | "unknown";

export interface Operation {
  readonly begin: number;
  /** Infinite if the outcome is unknown: the operation may take effect at any time, or never. */
  readonly end: number;
  readonly action: Action;
  /** Name of the process, for the report of a violation. */
  readonly by?: string;
}

/** Returns the state after the action; undefined if the action is impossible in this state. */
function step(state: State, action: Action): State | undefined {
  switch (action.kind) {
    case "write":
      return action.value;
    case "read":
      return action.value === state ? state : undefined;
    case "create":
      return conditional(state, state === null, action);
    case "replace":
      return conditional(state, state === action.seen, action);
  }
}

function conditional(state: State, holds: boolean, action: { value: string; outcome: Outcome }) {
  if (action.outcome === "unknown") return holds ? action.value : state;
  if (holds !== (action.outcome === "stored")) return undefined;
  return holds ? action.value : state;
}

/** One step of the search: the state, the possible next operations, and the next index to try. */
interface Frame {
  readonly state: State;
  readonly candidates: readonly number[];
  next: number;
  /** Index of the operation that led to this frame. */
  readonly placed: number;
}

/** Returns why no order of the operations is valid; undefined if a valid order exists. */
export function findViolation(operations: readonly Operation[]): string | undefined {
  return findContradiction(operations) ?? search(operations);
}

function search(operations: readonly Operation[]): string | undefined {
  const known = operations.filter(({ end }) => end !== Number.POSITIVE_INFINITY).sort(byBegin);
  const unknown = operations.filter(({ end }) => end === Number.POSITIVE_INFINITY).sort(byBegin);
  const all = [...known, ...unknown];
  const placed = new Uint8Array(all.length);
  const memory = createMemory(operations);
  const kinds = kindsOf(unknown, memory.named);
  const waiting = observers(known);
  let count = 0;
  /** The longest valid order found so far, and the next operations, none of which can follow. */
  let best: { count: number; state: State; candidates: readonly number[] } | undefined;

  /**
   * Returns the operations that may come next: operations with a known outcome that began before
   * any remaining operation ended, then operations with an unknown outcome.
   */
  function candidatesIn(state: State): number[] {
    let low = 0;
    while (placed[low] === 1 && low < known.length) low++;
    let firstEnd = Number.POSITIVE_INFINITY;
    const found: number[] = [];
    for (let i = low; i < known.length && known[i]!.begin <= firstEnd; i++) {
      if (placed[i] === 1) continue;
      found.push(i);
      firstEnd = Math.min(firstEnd, known[i]!.end);
    }
    const open = found.filter((i) => known[i]!.begin <= firstEnd);
    // An operation that does not change the state is placed now: this excludes no valid order.
    const idle = open.find(
      (i) => known[i]!.action.kind !== "write" && step(state, known[i]!.action) === state,
    );
    if (idle !== undefined) return [idle];
    const taken = new Set<string>();
    for (let i = known.length; i < all.length && all[i]!.begin <= firstEnd; i++) {
      const kind = kinds[i - known.length]!;
      // Operations of the same kind with unknown outcome are interchangeable.
      if (placed[i] === 1 || taken.has(kind)) continue;
      taken.add(kind);
      open.push(i);
    }
    return open;
  }

  function see(action: Action, change: number): void {
    const value = observed(action) ?? null;
    if (value !== null) waiting.set(value, waiting.get(value)! + change);
  }

  function isNew(state: State): boolean {
    if (memory.size() > maxTried)
      throw new Error(`Undecided after ${maxTried} orders. The longest order: ${howFar()}`);
    return memory.isNew(state, placed.subarray(0, known.length), placed.subarray(known.length));
  }

  function howFar(): string {
    const next = best!.candidates.map((i) => wordsOf(all[i]!)).join("; ");
    return `${best!.count} of ${known.length} fit; the state is ${best!.state}, and none of these can follow: ${next}`;
  }

  function enter(state: State, by: number): Frame {
    const candidates = candidatesIn(state);
    if (best === undefined || count > best.count) best = { count, state, candidates };
    return { state, candidates, next: 0, placed: by };
  }

  const frames: Frame[] = [enter(null, -1)];
  while (count < known.length) {
    const frame = frames.at(-1)!;
    const candidate = frame.candidates[frame.next++];
    if (candidate === undefined) {
      frames.pop();
      if (frames.length === 0) return howFar();
      placed[frame.placed] = 0;
      if (frame.placed < known.length) {
        count--;
        see(all[frame.placed]!.action, 1);
      }
      continue;
    }
    const { action } = all[candidate]!;
    const state = step(frame.state, action);
    if (state === undefined) continue;
    // Each value is written once, so all operations that observe it must precede its replacement.
    const left =
      state === frame.state
        ? 0
        : (waiting.get(frame.state) ?? 0) - (observed(action) === frame.state ? 1 : 0);
    if (left > 0) continue;
    placed[candidate] = 1;
    if (isNew(state)) {
      if (candidate < known.length) {
        count++;
        see(action, -1);
      }
      frames.push(enter(state, candidate));
    } else placed[candidate] = 0;
  }
  return undefined;
}

/** Counts the operations that observe each value. */
function observers(operations: readonly Operation[]): Map<State, number> {
  const counts = new Map<State, number>();
  for (const { action } of operations) {
    const value = observed(action) ?? null;
    if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
}

const byBegin = (a: Operation, b: Operation) => a.begin - b.begin;
