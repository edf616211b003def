// Writes a ZIP archive as a stream: one file after the other, stored without compression, and then
// the directory. Only the directory is held in memory.
import { crc32 } from "node:zlib";
import type { ObjectBytes } from "../../../engine/engine.ts";
import { dataDescriptor, directoryEnd, directoryHeader, localHeader, type ZipEntry } from "./zip-format.ts";

export interface ZipFile {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  readonly size: number;
  readonly bytes: ObjectBytes | Uint8Array;
}

/** Cancels the bytes of the current file if the reader stops early. */
export async function* zipStream(files: AsyncIterable<ZipFile>): AsyncGenerator<Uint8Array, void> {
  const entries: ZipEntry[] = [];
  const names = createNames();
  let offset = 0;
  for await (const { name, modified, size, bytes } of files) {
    const entry = { name: Buffer.from(names(name)), modified, size, offset };
    const head = localHeader(entry);
    offset += head.length;
    let crc = 0;
    try {
      yield head;
      for await (const chunk of bytes instanceof Uint8Array ? [bytes] : bytes.chunks()) {
        crc = crc32(chunk, crc);
        offset += chunk.length;
        yield chunk;
      }
    } finally {
      // Without effect on bytes that were read to their end.
      if (!(bytes instanceof Uint8Array)) await bytes.cancel();
    }
    const descriptor = dataDescriptor({ crc, size });
    offset += descriptor.length;
    yield descriptor;
    entries.push({ ...entry, crc });
  }
  const begin = offset;
  for (const entry of entries) {
    const head = directoryHeader(entry);
    offset += head.length;
    yield head;
  }
  yield directoryEnd(entries.length, offset - begin, begin);
}

/** Returns names that are safe to extract and different from each other. */
function createNames(): (key: string) => string {
  const taken = new Set<string>();
  /** The next number of a name, because as many keys as an archive has can become the same name. */
  const numbers = new Map<string, number>();
  return (key) => {
    const safe = safeName(key);
    const dot = safe.lastIndexOf(".");
    const end = dot > safe.lastIndexOf("/") + 1 ? dot : safe.length;
    let name = safe;
    let number = numbers.get(safe) ?? 2;
    for (; taken.has(name); number++)
      name = safe.endsWith("/")
        ? `${safe.slice(0, -1)} (${number})/`
        : `${safe.slice(0, end)} (${number})${safe.slice(end)}`;
    taken.add(name);
    if (name !== safe) numbers.set(safe, number);
    return name;
  };
}

/** A key is any text; as the name of a file it must stay inside the folder of the archive. */
export function safeName(key: string): string {
  const parts = key
    .replaceAll("\\", "_")
    .replaceAll(/[\p{Cc}:*?"<>|]/gu, "_")
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .map((part) => (part === ".." ? "__" : part));
  const name = parts.join("/") || "object";
  return key.endsWith("/") ? `${name}/` : name;
}
