// A lane is a sequence of numbered writes with known content. A consistent copy contains a lane
// exactly as it was after one of its writes.
import assert from "node:assert/strict";
import { bytesOf, KiB, type Value } from "../../support/bodies.ts";
import { createRandom } from "../../support/random.ts";

export const keysPerLane = 6;

export interface Step {
  readonly key: string;
  /** The value to put, or null for a delete. */
  readonly value: Value | null;
  readonly inParts: boolean;
}

/** The progress of a lane: the number of its writes started and acknowledged. */
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

/** Returns the number of the last write to a key up to write `last`, or 0 if there is none. */
function decisive(index: number, last: number): number {
  const back = (last - index + keysPerLane) % keysPerLane;
  return Math.max(0, last - back);
}

function isStateAfter(lane: string, found: ReadonlyMap<string, number>, last: number): boolean {
  for (let index = 0; index < keysPerLane; index++) {
    const number = decisive(index, last);
    const value = number === 0 ? null : stepOf(lane, number).value;
    if (found.get(`${lane}/${index}`) !== (value === null ? undefined : number)) return false;
  }
  return true;
}

/**
 * Checks that `found`, the number of the write that stored each key, is one state of the lane.
 */
export function assertOneInstant(
  lane: string,
  found: ReadonlyMap<string, number>,
  { acknowledged }: Reached,
  { begun }: Reached,
): void {
  for (let last = acknowledged; last <= begun; last++) if (isStateAfter(lane, found, last)) return;
  assert.fail(
    `${lane} is as it never was between its writes ${acknowledged} and ${begun}: ${JSON.stringify([...found])}`,
  );
}

/** Returns the bytes that the given write stored. */
export function expectedBytes(lane: string, key: string, number: number): Buffer {
  const { key: written, value } = stepOf(lane, number);
  assert.equal(written, key, `write ${number} of ${lane} is of another key`);
  assert.ok(value !== null, `write ${number} of ${lane} was a delete`);
  return bytesOf(key, value);
}
