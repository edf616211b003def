// Timers that return numbers, as on the platform that scripts are written for. The bundler puts them in the place of
// setTimeout and setInterval; clearTimeout and clearInterval of Node take numbers and Timeout objects alike.
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
