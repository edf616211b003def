// A file as the source of an object, and whether both hold the same bytes. It is read through one handle from its first byte
// to its last, and must not have changed in between.
import { createHash, type Hash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Engine } from "../../../engine/engine.ts";
import { hex } from "../../../model/checksum.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import { multipartEtag } from "../../../model/upload.ts";
import { CommandError } from "../../framework/command-error.ts";
import { fileError } from "../../framework/failures.ts";

export interface LocalFile {
  readonly size: number;
  /** From its start, as often as it is asked for; throws at the end when the file has changed since it was opened. */
  chunks(): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

const chunkBytes = 256 * 1024;

export async function openLocalFile(path: string): Promise<LocalFile> {
  const toReadError = (error: unknown) => fileError(error, "read", path);
  let handle: FileHandle;
  let opened: BigIntStats;
  try {
    // What was a file when the folder was read may be a link or a pipe by now.
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    throw toReadError(error);
  }
  try {
    opened = await handle.stat({ bigint: true });
    if (!opened.isFile()) throw new CommandError(`"${path}" is no file any more.`);
  } catch (error) {
    await handle.close();
    throw toReadError(error);
  }
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (let at = 0; ; ) {
        // The receiver may keep a chunk, so each is new.
        const chunk = Buffer.allocUnsafeSlow(Math.max(1, Math.min(chunkBytes, Number(opened.size) - at)));
        const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
        if (bytesRead === 0) break;
        at += bytesRead;
        yield chunk.subarray(0, bytesRead);
      }
      const now = await handle.stat({ bigint: true });
      if (now.size !== opened.size || now.mtimeNs !== opened.mtimeNs) {
        throw new CommandError("The file changed while it was being read; nothing was stored.");
      }
    } catch (error) {
      throw toReadError(error);
    }
  }
  return { size: Number(opened.size), chunks, close: () => handle.close() };
}

export interface Comparison {
  readonly engine: Engine;
  readonly bucket: string;
  readonly record: ObjectRecord;
  readonly file: LocalFile;
  readonly sizeOnly: boolean;
}

/** By size, then by MD5: that of the object, or those of its parts that its etag was made of. */
export async function hasSameBytes({ engine, bucket, record, file, sizeOnly }: Comparison): Promise<boolean> {
  if (record.encryption !== undefined) {
    throw new CommandError(
      "A customer's key has sealed the object, and it is not known here: both stay as they are.",
    );
  }
  if (record.size !== file.size) return false;
  if (sizeOnly) return true;
  const { md5 } = record.checksums;
  if (md5 !== undefined && record.checksumParts === undefined) {
    return (await md5s(file, [file.size])).join() === hex(md5);
  }
  const described = await engine.describe(bucket, record.key);
  if (described.outcome !== "found" || described.record.version !== record.version) return false;
  if (described.parts === undefined) return false;
  const sizes = described.parts.map(({ size }) => size);
  return multipartEtag(await md5s(file, sizes)) === record.etag;
}

/** Of pieces of these sizes, in hex. */
async function md5s(file: LocalFile, sizes: readonly number[]): Promise<string[]> {
  const found: string[] = [];
  let hash: Hash = createHash("md5");
  let left = sizes[0] ?? 0;
  const end = () => {
    found.push(hash.digest("hex"));
    hash = createHash("md5");
    left = sizes[found.length] ?? Number.POSITIVE_INFINITY;
  };
  for await (const chunk of file.chunks()) {
    for (let rest = chunk; rest.length > 0; ) {
      while (left === 0) end();
      const slice = rest.subarray(0, left);
      hash.update(slice);
      left -= slice.length;
      rest = rest.subarray(slice.length);
    }
  }
  while (found.length < sizes.length) end();
  return found;
}
