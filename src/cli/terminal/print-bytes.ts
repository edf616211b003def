// Prints stored bytes on stdout. On a terminal, bytes that are not text are refused unless they are asked for.
import { isAscii } from "node:buffer";
import type { ObjectBytes } from "../../engine/engine.ts";
import { CommandError } from "../framework/command-error.ts";
import type { Output } from "../framework/output.ts";

export interface PrintOptions {
  /** For the message: "object". */
  readonly what: string;
  readonly bytes: ObjectBytes;
  readonly onTerminal: "text only" | "anything";
}

export async function printBytes(output: Output, { what, bytes, onTerminal }: PrintOptions): Promise<void> {
  let isFirst = true;
  for await (const chunk of bytes.chunks()) {
    if (isFirst && onTerminal === "text only" && output.isTerminal && !looksLikeText(chunk)) {
      throw new CommandError(`The ${what} is not text and would garble the terminal.`, {
        hint: "Name a file for it, or - to print it all the same.",
      });
    }
    isFirst = false;
    await output.write(chunk);
  }
}

/** Judged by its beginning: text has no NUL, and no escape that commands a terminal. */
function looksLikeText(chunk: Uint8Array): boolean {
  const start = chunk.subarray(0, 8192);
  return !start.includes(0) && !start.includes(0x1b) && (isAscii(start) || isUtf8Start(start));
}

function isUtf8Start(start: Uint8Array): boolean {
  try {
    // A character that is cut off at the end of the chunk is not a fault.
    new TextDecoder("utf-8", { fatal: true }).decode(start, { stream: true });
    return true;
  } catch {
    return false;
  }
}
