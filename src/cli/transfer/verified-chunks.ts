// Compares copied bytes with the record of their object: a service may have sent other bytes.
import { createHash } from "node:crypto";
import { hex } from "../../model/checksums/checksum.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { CommandError } from "../framework/command-error.ts";

/** Yields the chunks, and throws at the end if the size or the MD5 is wrong. */
export async function* verifiedChunks(
  chunks: AsyncIterable<Uint8Array>,
  record: ObjectRecord,
  onBytes: (count: number) => void = () => {},
): AsyncGenerator<Uint8Array> {
  const hash = createHash("md5");
  let size = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    size += chunk.length;
    onBytes(chunk.length);
    yield chunk;
  }
  requireSame(record, { size, md5: hash.digest("hex") });
}

/** The etag of a multipart object is not the MD5 of its bytes: then only the size is compared. */
export function requireSame(record: ObjectRecord, { size, md5 }: { size: number; md5: string }): void {
  const { checksums, checksumParts } = record;
  const isSame = checksums.md5 === undefined || checksumParts !== undefined || hex(checksums.md5) === md5;
  if (record.size === size && isSame) return;
  throw new CommandError("The copy differs from its source; copy it again.");
}
