// Finds simple contradictions in a history of one key (the zones of Gibbons and Korach). The search
// would find them too, but only after trying every order.
import type { Action, Operation, State } from "./checker.ts";

/** The first and the last time at which a value certainly existed. */
interface Zone {
  readonly value: string;
  readonly from: number;
  readonly to: number;
}

/** Returns a description of a contradiction; undefined if there is no simple contradiction. */
export function findContradiction(operations: readonly Operation[]): string | undefined {
  const written = new Set(operations.map(({ action }) => writtenBy(action)));
  const foreign = operations.find(({ action }) => !written.has(observed(action) ?? null));
  if (foreign !== undefined) return `${wordsOf(foreign)} names a value that was never written`;
  const zones = zonesOf(operations);
  for (const zone of zones) {
    for (const other of zones) {
      if (zone === other) continue;
      // The zones overlap: one value would have to reappear, but each value is written only once.
      if (zone.from < zone.to && other.from < other.to && zone.from < other.to && other.from < zone.to)
        return `${zone.value} and ${other.value} were there at the same time`;
    }
    const inside = operations.find((operation) => contradicts(zone, operation));
    if (inside !== undefined) {
      return `${wordsOf(inside)}, though ${zone.value} was there from ${zone.from} until ${zone.to}`;
    }
  }
  return undefined;
}

/** Whether the operation lies within the zone of a value and is impossible with that value. */
function contradicts({ value, from, to }: Zone, { begin, end, action }: Operation): boolean {
  if (!(from < begin && end < to)) return false;
  const seen = observed(action);
  if (seen !== undefined) return seen !== value;
  return action.kind === "write";
}

function zonesOf(operations: readonly Operation[]): Zone[] {
  const zones = new Map<string, { value: string; from: number; to: number }>();
  for (const { begin, end, action } of operations) {
    for (const value of [writtenBy(action), observed(action)]) {
      if (value === null || value === undefined) continue;
      const zone = zones.get(value) ?? {
        value,
        from: Number.POSITIVE_INFINITY,
        to: Number.NEGATIVE_INFINITY,
      };
      zones.set(value, zone);
      zone.from = Math.min(zone.from, end);
      zone.to = Math.max(zone.to, begin);
    }
  }
  return [...zones.values()];
}

/** Returns the value that the action may have stored; null if it cannot store a value. */
export function writtenBy(action: Action): State {
  if (action.kind === "read") return null;
  return "outcome" in action && action.outcome === "refused" ? null : action.value;
}

/** Returns the state that the action must have seen; undefined if several states are possible. */
export function observed(action: Action): State | undefined {
  switch (action.kind) {
    case "write":
      return undefined;
    case "read":
      return action.value;
    case "create":
      return action.outcome === "stored" ? null : undefined;
    case "replace":
      return action.outcome === "stored" ? action.seen : undefined;
  }
}

export function wordsOf({ begin, end, action, by = "a client" }: Operation): string {
  return `${JSON.stringify(action)} by ${by} from ${begin} until ${end}`;
}
