// Reads the lines of a growing file, and waits for more if asked to.
import { open } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { fileError } from "../framework/failures.ts";

const chunkBytes = 64 * 1024;
const pollMilliseconds = 250;
/** A line beyond this is not of a request log, and is cut. */
const maxLineBytes = 256 * 1024;

export interface FollowOptions {
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

export async function* readLines(path: string, { follow, signal }: FollowOptions): AsyncGenerator<string> {
  let position = 0;
  let rest: Buffer = Buffer.alloc(0);
  while (!signal.aborted) {
    const { bytes, isShorter } = await readFrom(path, position);
    if (isShorter) {
      // The file was rotated: start at its beginning.
      position = 0;
      rest = Buffer.alloc(0);
      continue;
    }
    position += bytes.length;
    const all = Buffer.concat([rest, bytes]);
    const end = all.lastIndexOf(0x0a) + 1;
    yield* all.subarray(0, end).toString("utf8").split("\n").slice(0, -1);
    rest = all.length - end > maxLineBytes ? Buffer.alloc(0) : Buffer.from(all.subarray(end));
    if (bytes.length > 0) continue;
    if (!follow) return;
    await pause(pollMilliseconds, undefined, { signal }).catch(() => {});
  }
}

async function readFrom(path: string, position: number) {
  try {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      const buffer = Buffer.alloc(chunkBytes);
      const { bytesRead } = await file.read(buffer, 0, chunkBytes, position);
      return { bytes: buffer.subarray(0, bytesRead), isShorter: size < position };
    } finally {
      await file.close();
    }
  } catch (error) {
    throw fileError(error, "read the request log", path);
  }
}
