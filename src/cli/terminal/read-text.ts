// All of a stream as text, when it is text and not too long.
import { CommandError } from "../framework/command-error.ts";

const maxBytes = 1024 * 1024;

export async function readText(stream: AsyncIterable<Uint8Array>, what: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > maxBytes) throw new CommandError(`${what} is longer than a megabyte: nothing was changed.`);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new CommandError(`${what} is not UTF-8 text: nothing was changed.`, {
      hint: "Encode bytes first, for instance with base64.",
      cause,
    });
  }
}
