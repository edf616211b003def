// Uncaught errors of a script, for its author: each stack ends at the script, without the frames of
// Store's server, which are the same for every error.
import { isFrame, isOwnFrame } from "../../binding/call-stack.ts";

/** Maximum length of the chain of causes. */
const maxDepth = 8;

/** Cuts each stack, also of causes, after the script's last frame. Stacks without such a frame stay. */
export function trimStack(error: unknown, depth = 0): void {
  if (!(error instanceof Error) || depth === maxDepth) return;
  const lines = typeof error.stack === "string" ? error.stack.split("\n") : [];
  const last = lines.findLastIndex((line) => isFrame(line) && !isOwnFrame(line));
  const first = lines.findIndex(isFrame);
  if (last !== -1 && last < lines.length - 1 && lines.slice(first).every(isFrame)) {
    // A frozen error stays as it is.
    Reflect.set(error, "stack", lines.slice(0, last + 1).join("\n"));
  }
  trimStack(error.cause, depth + 1);
}

/** An error of the script that Store finds after the script has returned: its message says everything. */
export function withoutFrames(error: Error): Error {
  error.stack = `${error.name}: ${error.message}`;
  return error;
}

/** Writes an error that the script did not catch to its log. */
export function logError(error: unknown, prefix?: string): void {
  trimStack(error);
  if (prefix === undefined) console.error(error);
  else console.error(prefix, error);
}
