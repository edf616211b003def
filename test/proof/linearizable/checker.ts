// Whether a history of one key can have happened one operation at a time, each at an instant between its beginning
// and its end (Wing and Gong's search, with Lowe's memory of what was tried). Keep to some hundreds of operations.

import { createMemory, kindsOf } from "./memory.ts";
import { findContradiction, observed, wordsOf } from "./zones.ts";

/** More than a right history ever takes; a wrong one can take all the time there is. */
const mostTried = 2_000_000;

/** What a key holds: the etag of its object, or nothing. Every value is written once. */
export type State = string | null;

export type Action =
  /** A put or a delete without a condition. */
  | { readonly kind: "write"; readonly value: State }
  /** A get, a head, or a place in a list. */
  | { readonly kind: "read"; readonly value: State }
  /** Puts only where nothing is. */
  | { readonly kind: "create"; readonly value: string; readonly outcome: Outcome }
  /** Puts only over the version that was seen. */
  | {
      readonly kind: "replace";
      readonly seen: string;
      readonly value: string;
      readonly outcome: Outcome;
    };

export type Outcome = "stored" | "refused" | "unknown";

export interface Operation {
  readonly begin: number;
  /** Infinite when nobody knows how it ended: it may have happened at any time since, or never. */
  readonly end: number;
  readonly action: Action;
  /** For whoever reads of a violation. */
  readonly by?: string;
}

/** What the key holds behind the action; undefined when it cannot have happened to this state. */
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

/** An order tried so far: which operations are placed, and which may come next. */
interface Frame {
  readonly state: State;
  readonly candidates: readonly number[];
  next: number;
  /** The operation that led here. */
  readonly placed: number;
}

/** What speaks against every order of the operations; undefined when there is an order. */
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
  /** How far the best order came, and what cannot go on from there. */
  let best: { count: number; state: State; candidates: readonly number[] } | undefined;

  /** Known operations that began before the first of those left has ended; behind them, the unknown ones. */
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
    // What changes nothing and fits now may as well come now: no order is lost by it.
    const idle = open.find(
      (i) => known[i]!.action.kind !== "write" && step(state, known[i]!.action) === state,
    );
    if (idle !== undefined) return [idle];
    const taken = new Set<string>();
    for (let i = known.length; i < all.length && all[i]!.begin <= firstEnd; i++) {
      const kind = kinds[i - known.length]!;
      // One of a kind is as good as any other.
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
    if (memory.size() > mostTried)
      throw new Error(`Undecided after ${mostTried} orders. The best: ${howFar()}`);
    return memory.isNew(state, placed.subarray(0, known.length), placed.subarray(known.length));
  }

  function howFar(): string {
    const next = best!.candidates.map((i) => wordsOf(all[i]!)).join("; ");
    return `${best!.count} of ${known.length} fit; ${best!.state} is there, and none can be next of: ${next}`;
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
    // A value is written once: nobody who is still to see it may be left behind when it goes.
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

/** How many are still to see each value. */
function observers(operations: readonly Operation[]): Map<State, number> {
  const counts = new Map<State, number>();
  for (const { action } of operations) {
    const value = observed(action) ?? null;
    if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
}

const byBegin = (a: Operation, b: Operation) => a.begin - b.begin;
