// Prints stored bytes to stdout. On a terminal, binary data is refused unless requested.
import { isAscii } from "node:buffer";
import type { ObjectBytes } from "../../engine/engine.ts";
import { CommandError } from "../framework/command-error.ts";
import type { Output } from "../framework/output.ts";

export interface PrintOptions {
  /** The noun for the error message, such as "object". */
  readonly what: string;
  readonly bytes: ObjectBytes;
  readonly onTerminal: "text only" | "anything";
}

export async function printBytes(output: Output, { what, bytes, onTerminal }: PrintOptions): Promise<void> {
  let isFirst = true;
  for await (const chunk of bytes.chunks()) {
    if (isFirst && onTerminal === "text only" && output.isTerminal && !looksLikeText(chunk)) {
      throw new CommandError(`The ${what} is not text and would garble the terminal.`, {
        hint: "Write it to a file, or use - to print it anyway.",
      });
    }
    isFirst = false;
    await output.write(chunk);
  }
}

/** Whether the first bytes are text: UTF-8 without NUL and escape characters. */
function looksLikeText(chunk: Uint8Array): boolean {
  const start = chunk.subarray(0, 8192);
  return !start.includes(0) && !start.includes(0x1b) && (isAscii(start) || isUtf8Start(start));
}

function isUtf8Start(start: Uint8Array): boolean {
  try {
    // With `stream`, an incomplete character at the end is not an error.
    new TextDecoder("utf-8", { fatal: true }).decode(start, { stream: true });
    return true;
  } catch {
    return false;
  }
}
