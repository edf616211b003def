// All of a stream as text, when it is text and not too long.
import { CommandError } from "../framework/command-error.ts";

const most = 1024 * 1024;

export async function readText(stream: AsyncIterable<Uint8Array>, what: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of stream) {
    length += piece.length;
    if (length > most) throw new CommandError(`${what} is longer than a megabyte: nothing was changed.`);
    pieces.push(piece);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(pieces));
  } catch (cause) {
    throw new CommandError(`${what} is not UTF-8 text: nothing was changed.`, {
      hint: "Encode bytes first, for instance with base64.",
      cause,
    });
  }
}
