// Adds the frames of the script to error stacks. An engine operation fails asynchronously, so its
// error has only frames of Store. The stack of the awaiting call has the frames of the script.
import { isStoreFault, StoreError } from "../model/errors.ts";

/** Folder of Store's modules as stack traces show it, with a slash at the end. */
const ownFolder = /((?:file:\/\/)?\/?[^()\s]*[\\/])binding[\\/]call-stack\.[jt]s:/.exec(
  String(new Error().stack),
)?.[1];

/** Whether a line of a stack trace is a frame of Store or Node. */
export function isOwnFrame(line: string): boolean {
  return /\bnode:|\(native\)/.test(line) || (ownFolder !== undefined && line.includes(ownFolder));
}

export function isFrame(line: string): boolean {
  return /^\s+at /.test(line);
}

/** Called in the catch block of an async method, so that only failed operations create a stack. */
export function withCallStack(error: unknown): unknown {
  if (error instanceof StoreError) addCallStack(error, new Error().stack);
  return error;
}

function addCallStack(error: StoreError, callStack: string | undefined): void {
  const frames = (callStack ?? "").split("\n").filter((line) => isFrame(line) && !isOwnFrame(line));
  if (frames.length === 0) return;
  // For an internal error, keep the frames of Store too.
  const head = isStoreFault(error) ? error.stack : `${error.name}: ${error.message}`;
  error.stack = [head, ...frames].join("\n");
}
