// Copies variables and secrets to process.env, from which many packages read their settings.
import { env as environment } from "node:process";
import type { LoadedScript } from "./messages.ts";

/** Strings are set unchanged; other values as JSON, because process.env holds only text. */
export function fillProcessEnv({ vars, secrets }: Pick<LoadedScript, "vars" | "secrets">): void {
  for (const [name, value] of Object.entries({ ...vars, ...secrets })) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    // Names and values that process.env cannot hold are only in env.
    if (text !== undefined && !/[=\0]/.test(name) && !text.includes("\0")) environment[name] = text;
  }
}
