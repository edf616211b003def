// Checks the versions of a round: the listed order of a key's versions must itself be a valid order
// of its writes, with every acknowledged put exactly once.
import type { Engine } from "../../engine/engine.ts";
import type { VersionPosition } from "../../model/listing.ts";
import { isDeleteMarker } from "../../model/version.ts";
import { openEngine } from "../../open.ts";
import type { Operation, State } from "./checker.ts";
import { wordsOf } from "./zones.ts";

async function withEngine<T>(directory: string, work: (engine: Engine) => Promise<T>): Promise<T> {
  const { engine } = await openEngine(directory);
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

export function turnVersioningOn(directory: string, bucket: string): Promise<unknown> {
  return withEngine(directory, (engine) => engine.changeSettings(bucket, { versioning: "on" }));
}

/** Throws at the first violation; returns the number of versions. */
export async function checkVersions(
  directory: string,
  bucket: string,
  prefix: string,
  operations: ReadonlyMap<string, readonly Operation[]>,
): Promise<number> {
  const states = await withEngine(directory, (engine) => listStates(engine, bucket, prefix));
  let count = 0;
  for (const [key, history] of operations) {
    const found = states.get(key) ?? [];
    const violation = findVersionViolation(found, history);
    if (violation !== undefined) throw new Error(`The versions of "${key}" are wrong: ${violation}`);
    count += found.length;
  }
  return count;
}

/** Returns the etags of each key's versions, oldest first; null for a delete marker. */
async function listStates(engine: Engine, bucket: string, prefix: string): Promise<Map<string, State[]>> {
  const states = new Map<string, State[]>();
  let after: VersionPosition | undefined;
  do {
    const page = await engine.listVersions(bucket, { prefix, after });
    for (const { version } of page.versions) {
      const known = states.get(version.key) ?? [];
      states.set(version.key, known);
      known.push(isDeleteMarker(version) ? null : version.etag);
    }
    after = page.next;
  } while (after !== undefined);
  for (const known of states.values()) known.reverse();
  return states;
}

export function findVersionViolation(
  states: readonly State[],
  operations: readonly Operation[],
): string | undefined {
  const writes = new Map<string, Operation>();
  let [deletes, unknownDeletes] = [0, 0];
  for (const operation of operations) {
    const { action, end } = operation;
    if (action.kind === "read" || ("outcome" in action && action.outcome === "refused")) continue;
    if (action.value !== null) writes.set(action.value, operation);
    else if (end === Number.POSITIVE_INFINITY) unknownDeletes++;
    else deletes++;
  }
  let latestBegin = Number.NEGATIVE_INFINITY;
  for (const [i, state] of states.entries()) {
    if (state === null) continue;
    const write = writes.get(state);
    if (write === undefined) return `${state} exists twice or was never written`;
    writes.delete(state);
    const wrong = findMisplaced(write, states[i - 1] ?? null);
    if (wrong !== undefined) return wrong;
    if (write.end < latestBegin) return `${wordsOf(write)} is newer than a version that began later`;
    latestBegin = Math.max(latestBegin, write.begin);
  }
  for (const write of writes.values()) {
    if (write.end !== Number.POSITIVE_INFINITY) return `${wordsOf(write)} was acknowledged and is missing`;
  }
  const markers = states.filter((state) => state === null).length;
  if (markers < deletes || markers > deletes + unknownDeletes)
    return `there are ${markers} delete markers of ${deletes} deletes and ${unknownDeletes} in doubt`;
  return undefined;
}

/** A conditional put must come directly after the state that its condition names. */
function findMisplaced(write: Operation, before: State): string | undefined {
  const { action } = write;
  if (action.kind === "create" && before !== null) return `${wordsOf(write)} came after ${before}`;
  if (action.kind === "replace" && before !== action.seen) return `${wordsOf(write)} came after ${before}`;
  return undefined;
}
