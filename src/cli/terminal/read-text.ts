// Reads a whole stream as UTF-8 text, up to a limit.
import { CommandError } from "../framework/command-error.ts";

const maxBytes = 1024 * 1024;

export async function readText(stream: AsyncIterable<Uint8Array>, what: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > maxBytes) throw new CommandError(`${what} is longer than 1 MiB; nothing was changed.`);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new CommandError(`${what} is not UTF-8 text; nothing was changed.`, {
      hint: "Encode binary data first, for example with base64.",
      cause,
    });
  }
}
