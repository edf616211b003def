// Uncaught errors of a script, for its author. The stack trace ends at the script; frames of
// Store's server are removed.
import console from "node:console";
import { isFrame, isOwnFrame } from "../../binding/call-stack.ts";

/** Maximum length of a chain of causes. */
const maxDepth = 8;

/** Cuts the stack traces of an error and its causes after the script's last frame. */
export function trimStack(error: unknown, depth = 0): void {
  if (!(error instanceof Error) || depth === maxDepth) return;
  const lines = typeof error.stack === "string" ? error.stack.split("\n") : [];
  const last = lines.findLastIndex((line) => isFrame(line) && !isOwnFrame(line));
  const first = lines.findIndex(isFrame);
  if (last !== -1 && last < lines.length - 1 && lines.slice(first).every(isFrame)) {
    // Reflect.set does not throw for a frozen error, whose stack stays unchanged.
    Reflect.set(error, "stack", lines.slice(0, last + 1).join("\n"));
  }
  trimStack(error.cause, depth + 1);
}

/** Removes all frames from an error that Store detects after the script has returned. */
export function withoutFrames(error: Error): Error {
  error.stack = `${error.name}: ${error.message}`;
  return error;
}

const disconnections = new WeakSet<Error>();

/** The error of a request's body whose client has disconnected. It is not logged: any client could
 * fill the log, and no error of the script is behind it. */
export function createDisconnection(cause: unknown): Error {
  const error = withoutFrames(
    new Error("The client disconnected before the body of its request had arrived.", { cause }),
  );
  disconnections.add(error);
  return error;
}

/** Logs an error that the script did not catch. */
export function logError(error: unknown, prefix?: string): void {
  if (error instanceof Error && disconnections.has(error)) return;
  trimStack(error);
  if (prefix === undefined) console.error(error);
  else console.error(prefix, error);
}
