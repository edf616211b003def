// Timers that return numbers, as in Cloudflare Workers. The bundler replaces setTimeout and
// setInterval with them; Node's clearTimeout and clearInterval also accept numbers.
import { define } from "./define.ts";

/** Names that the bundler replaces, and their replacements. */
export const numberTimers = { setTimeout: "$storeSetTimeout", setInterval: "$storeSetInterval" } as const;

export function installNumberTimers(): void {
  define(globalThis, {
    [numberTimers.setTimeout]: function setTimeout(...args: Parameters<typeof globalThis.setTimeout>) {
      return Number(globalThis.setTimeout(...args));
    },
    [numberTimers.setInterval]: function setInterval(...args: Parameters<typeof globalThis.setInterval>) {
      return Number(globalThis.setInterval(...args));
    },
  });
}
