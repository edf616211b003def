// Stacks of errors as the author of a script needs them. An engine operation fails after it has waited, so the error's
// own stack names only Store's files; the frames of the script are those of the call that waits for it.
import { isStoreFault, StoreError } from "../model/errors.ts";

/** The folder of Store's modules as stacks show it, with or without source maps; it ends with a slash. */
const ownFolder = /((?:file:\/\/)?\/?[^()\s]*[\\/])binding[\\/]call-stack\.[jt]s:/.exec(
  String(new Error().stack),
)?.[1];

/** Whether a line of a stack is a frame of Store or of Node itself. */
export function isOwnFrame(line: string): boolean {
  return /\bnode:|\(native\)/.test(line) || (ownFolder !== undefined && line.includes(ownFolder));
}

export function isFrame(line: string): boolean {
  return /^\s+at /.test(line);
}

/**
 * For the catch of an async method that the script called: the error, with the script's frames in its stack. Nothing is
 * done before an operation fails, so that those that succeed cost no more.
 */
export function withCallStack(error: unknown): unknown {
  if (error instanceof StoreError) addCallStack(error, new Error().stack);
  return error;
}

function addCallStack(error: StoreError, callStack: string | undefined): void {
  const frames = (callStack ?? "").split("\n").filter((line) => isFrame(line) && !isOwnFrame(line));
  if (frames.length === 0) return;
  // Store's own frames matter where Store itself may be at fault.
  const head = isStoreFault(error) ? error.stack : `${error.name}: ${error.message}`;
  error.stack = [head, ...frames].join("\n");
}
