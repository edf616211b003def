// Contradictions in a history of one key that show at a look, whatever the order of the rest (the zones of Gibbons
// and Korach). The search would find each of them too, but to find that no order exists it has to try them all.
import type { Action, Operation, State } from "./checker.ts";

/** From the instant a value was certainly there until the last at which it certainly still was. */
interface Zone {
  readonly value: string;
  readonly from: number;
  readonly to: number;
}

/** What contradicts what, in words; undefined when nothing does at a look. */
export function findContradiction(operations: readonly Operation[]): string | undefined {
  const written = new Set(operations.map(({ action }) => writtenBy(action)));
  const foreign = operations.find(({ action }) => !written.has(observed(action) ?? null));
  if (foreign !== undefined) return `${wordsOf(foreign)} tells of a value that nobody wrote`;
  const zones = zonesOf(operations);
  for (const zone of zones) {
    for (const other of zones) {
      if (zone === other) continue;
      // Each of the two was there before the other went: of one writer each, one must have come back.
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

/** Wholly within the time of a value, and not to be had with it. */
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

/** The value that may be there because of the action; nothing is there from the start. */
export function writtenBy(action: Action): State {
  if (action.kind === "read") return null;
  return "outcome" in action && action.outcome === "refused" ? null : action.value;
}

/** What must have been there for the action to end as it did; undefined when that can be many things. */
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
