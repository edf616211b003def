// A lane: writes one after the other, each decided by its number alone, so that the state behind any of them is
// known. A copy of one instant shows a lane exactly as it was behind one of its writes.
import assert from "node:assert/strict";
import { bytesOf, KiB, type Value } from "../../support/bodies.ts";
import { createRandom } from "../../support/random.ts";

export const keysPerLane = 6;

export interface Step {
  readonly key: string;
  /** Null is a delete. */
  readonly value: Value | null;
  readonly inParts: boolean;
}

/** How far a lane has come: writes that were begun, and writes that were acknowledged. */
export interface Reached {
  readonly begun: number;
  readonly acknowledged: number;
}

export function stepOf(lane: string, number: number): Step {
  const random = createRandom([...lane].reduce((sum, c) => sum * 31 + c.charCodeAt(0), number * 7919));
  const key = `${lane}/${number % keysPerLane}`;
  if (random.below(6) === 0) return { key, value: null, inParts: false };
  const size = random.pick([0, 700, 4 * KiB, 5 * KiB, 64 * KiB, 100 * KiB, 200 * KiB]);
  return { key, value: { name: String(number), size }, inParts: size > 64 * KiB && random.below(3) === 0 };
}

/** The number of the write that decides a key, behind the given one; 0 when there is none yet. */
function decisive(index: number, behind: number): number {
  const back = (behind - index + keysPerLane) % keysPerLane;
  return Math.max(0, behind - back);
}

function isStateBehind(lane: string, found: ReadonlyMap<string, number>, behind: number): boolean {
  for (let index = 0; index < keysPerLane; index++) {
    const number = decisive(index, behind);
    const value = number === 0 ? null : stepOf(lane, number).value;
    if (found.get(`${lane}/${index}`) !== (value === null ? undefined : number)) return false;
  }
  return true;
}

/** What was found, by key, with the number of the write it says it is of. */
export function assertOneInstant(
  lane: string,
  found: ReadonlyMap<string, number>,
  { acknowledged }: Reached,
  { begun }: Reached,
): void {
  for (let behind = acknowledged; behind <= begun; behind++) if (isStateBehind(lane, found, behind)) return;
  assert.fail(
    `${lane} is as it never was between its writes ${acknowledged} and ${begun}: ${JSON.stringify([...found])}`,
  );
}

/** The bytes that a found object must have. */
export function expectedBytes(lane: string, key: string, number: number): Buffer {
  const { key: written, value } = stepOf(lane, number);
  assert.equal(written, key, `write ${number} of ${lane} is of another key`);
  assert.ok(value !== null, `write ${number} of ${lane} was a delete`);
  return bytesOf(key, value);
}
