// Proof: every acknowledged write is delivered as an event, even if the server is killed with
// SIGKILL during writes and deliveries, and the receiver refuses, disconnects and is slow.
import assert from "node:assert/strict";
import { createRandom, type Random } from "../../support/random.ts";
import type { Budget, Proof } from "../proof.ts";
import { type EventScene, openEventScene } from "./scene.ts";

/** Acknowledged writes before the first kill; doubled for each later kill, up to `mostWrites`. */
const firstWrites = 100;
const mostWrites = 50_000;
const writers = 4;
/** Keys per request: fewer in rounds with few writes. */
const keysAtOnce = (enough: number) => Math.min(100, Math.ceil(enough / 20));

export const events: Proof = {
  name: "events",
  unit: "events",
  bar: 1_000_000,
  async run(budget) {
    const ends: (() => unknown)[] = [];
    const scene = await openEventScene(
      { after: (end) => void ends.push(end) },
      createRandom(budget.seed + 1),
    );
    try {
      const { kills, acknowledged } = await writeAndKill(scene, budget);
      await scene.start();
      await scene.heardOf(acknowledged);
      const { received, twice, refused } = scene.counts();
      return {
        kills,
        "acknowledged writes": acknowledged,
        "events received": received,
        "received more than once": twice,
        "messages refused": refused,
        lost: 0,
      };
    } finally {
      for (const end of ends.reverse()) await end();
    }
  },
};

async function writeAndKill(
  scene: EventScene,
  budget: Budget,
): Promise<{ readonly kills: number; readonly acknowledged: number }> {
  const random = createRandom(budget.seed);
  let kills = 0;
  let acknowledged = 0;
  while (budget.more(acknowledged)) {
    await scene.start();
    const enough = Math.min(firstWrites * 2 ** kills, mostWrites);
    acknowledged += await writeUntilKilled(scene, random, enough);
    kills++;
    budget.say(
      `${kills} kills, ${acknowledged} acknowledged writes, ${scene.counts().received} events received`,
    );
  }
  return { kills, acknowledged };
}

/** Returns the number of acknowledged writes; writes in flight at the kill are not counted. */
async function writeUntilKilled(scene: EventScene, random: Random, enough: number): Promise<number> {
  let acknowledged = 0;
  let killing: Promise<void> | undefined;
  async function write(): Promise<void> {
    while (killing === undefined) {
      const keys = scene.newKeys(keysAtOnce(enough));
      if (!(await scene.put(keys))) return;
      acknowledged += keys.length;
      // Delete the keys of every second batch on average, which produces a second event per key.
      if (random.below(2) === 0) {
        if (!(await scene.remove(keys))) return;
        acknowledged += keys.length;
      }
      if (acknowledged >= enough) killing ??= scene.kill(random.below(50));
    }
  }
  await Promise.all(Array.from({ length: writers }, write));
  assert.ok(killing !== undefined, "the server answers until it is killed");
  await killing;
  return acknowledged;
}
