// Reads the bytes of a put from a file or from stdin.
import { fstatSync } from "node:fs";
import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { CommandError } from "../framework/command-error.ts";
import { fileError } from "../framework/failures.ts";
import { escapeControls } from "../framework/output.ts";
import { shellWord } from "../framework/shell-quote.ts";

export interface Input {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Number of bytes; undefined when not known in advance. */
  readonly size: number | undefined;
  close(): void;
}

export function standardInput(): Input {
  // Refuse a folder: Node would treat it as empty input.
  if (fstatSync(0).isDirectory()) throw new CommandError("Standard input is a folder; use a file or a pipe.");
  return createInput(process.stdin, "standard input", undefined);
}

const chunkBytes = 256 * 1024;

export async function fileInput(path: string): Promise<Input> {
  const handle = await open(path).catch((error: unknown) => {
    throw fileError(error, "read", path);
  });
  const found = await handle.stat();
  if (found.isDirectory()) {
    await handle.close();
    throw new CommandError(`"${escapeControls(path)}" is a folder; name a file.`, {
      hint: `To store a folder as one object: tar c ${shellWord(escapeControls(path))} | store object put <bucket>/<key> -`,
    });
  }
  // Pipes, devices and kernel files do not report their size.
  const size = found.isFile() && found.size > 0 ? found.size : undefined;
  const whole = size === undefined ? {} : { start: 0, end: size - 1 };
  return createInput(handle.createReadStream({ highWaterMark: chunkBytes, ...whole }), path, size);
}

function createInput(stream: Readable, name: string, size: number | undefined): Input {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      yield* stream as AsyncIterable<Uint8Array>;
    } catch (error) {
      throw fileError(error, "read", name);
    }
  }
  // Not awaited: a pending read of a pipe without a writer would block the close forever.
  return { chunks: chunks(), size, close: () => void stream.destroy() };
}
