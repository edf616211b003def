// Variables and secrets in the environment of a script's process, for scripts and packages that look for settings there.
import { env as environment } from "node:process";
import type { LoadedScript } from "./messages.ts";

/** Strings as they are, other values as JSON: an environment holds only text. */
export function fillProcessEnv({ vars, secrets }: Pick<LoadedScript, "vars" | "secrets">): void {
  for (const [name, value] of Object.entries({ ...vars, ...secrets })) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    // Names and values that an environment cannot hold are in env alone.
    if (text !== undefined && !/[=\0]/.test(name) && !text.includes("\0")) environment[name] = text;
  }
}
