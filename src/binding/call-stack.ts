// Adds the frames of the script to error stacks. An engine operation fails asynchronously, so its
// error has only frames of Store; those of the script are in the stack of the awaiting call.
import { isStoreFault, StoreError } from "../model/errors.ts";

/** Folder of Store's modules as shown in stacks, with or without source maps; ends with a slash. */
const ownFolder = /((?:file:\/\/)?\/?[^()\s]*[\\/])binding[\\/]call-stack\.[jt]s:/.exec(
  String(new Error().stack),
)?.[1];

/** True if a line of a stack is a frame of Store or Node. */
export function isOwnFrame(line: string): boolean {
  return /\bnode:|\(native\)/.test(line) || (ownFolder !== undefined && line.includes(ownFolder));
}

export function isFrame(line: string): boolean {
  return /^\s+at /.test(line);
}

/** Call in the catch of an async method: only operations that fail pay for the stack. */
export function withCallStack(error: unknown): unknown {
  if (error instanceof StoreError) addCallStack(error, new Error().stack);
  return error;
}

function addCallStack(error: StoreError, callStack: string | undefined): void {
  const frames = (callStack ?? "").split("\n").filter((line) => isFrame(line) && !isOwnFrame(line));
  if (frames.length === 0) return;
  // For an internal error the frames of Store matter too.
  const head = isStoreFault(error) ? error.stack : `${error.name}: ${error.message}`;
  error.stack = [head, ...frames].join("\n");
}
