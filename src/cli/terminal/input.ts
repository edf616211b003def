// Where the bytes of a put come from: a file, or stdin. What cannot be read is told by its name.
import { fstatSync } from "node:fs";
import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { CommandError } from "../framework/command-error.ts";
import { fileError } from "../framework/failures.ts";
import { escapeControls } from "../framework/output.ts";
import { shellWord } from "../framework/shell-quote.ts";

export interface Input {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Undefined when only its end will tell. */
  readonly size: number | undefined;
  close(): void;
}

export function standardInput(): Input {
  // Node would take what it cannot read for an input that has ended.
  if (fstatSync(0).isDirectory())
    throw new CommandError("Standard input is a folder: give it a file or a pipe.");
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
    throw new CommandError(`"${escapeControls(path)}" is a folder: name a file.`, {
      hint: `A folder as one object: tar c ${shellWord(escapeControls(path))} | store object put <bucket>/<key> -`,
    });
  }
  // A pipe, a device or a file of the kernel's does not say how much it will give.
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
  // Not awaited: a read of a pipe that nobody writes to would never let it close.
  return { chunks: chunks(), size, close: () => void stream.destroy() };
}
