// Checks that command lines are refused with the expected message and hint.
import assert from "node:assert/strict";
import type { Shell } from "./store.ts";

export type Refusal = readonly [args: readonly string[], ...says: readonly (string | RegExp)[]];

/** Number of concurrent commands. */
const atOnce = 4;

export async function assertRefused(shell: Shell, code: 1 | 2, refusals: readonly Refusal[]): Promise<void> {
  const waiting = [...refusals];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [args, ...says] = next;
      const told = await shell.fails(code, args);
      for (const words of says) {
        const isSaid = typeof words === "string" ? told.includes(words) : words.test(told);
        assert.ok(isSaid, `store ${args.join(" ")} says ${words}, but it says: ${told}`);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
