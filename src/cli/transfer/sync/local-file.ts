// Reads a file for an upload and compares it with an object. All reads use one handle and fail if
// the file has changed since it was opened.
import { createHash, type Hash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { hex } from "../../../model/checksums/checksum.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import { multipartEtag } from "../../../model/upload.ts";
import { CommandError } from "../../framework/command-error.ts";
import { fileError } from "../../framework/failures.ts";
import type { SyncOptions } from "./sync.ts";

export interface LocalFile {
  readonly size: number;
  /** Reads from the start at each call; throws if the file has changed since it was opened. */
  chunks(): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

const chunkBytes = 256 * 1024;

export async function openLocalFile(path: string): Promise<LocalFile> {
  const toReadError = (error: unknown) => fileError(error, "read", path);
  let handle: FileHandle;
  let opened: BigIntStats;
  try {
    // Do not follow a link or block on a pipe, which may have replaced the file meanwhile.
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    throw toReadError(error);
  }
  try {
    opened = await handle.stat({ bigint: true });
    if (!opened.isFile()) throw new CommandError(`"${path}" is no longer a file.`);
  } catch (error) {
    await handle.close();
    throw toReadError(error);
  }
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (let at = 0; ; ) {
        // A new buffer for each chunk, because the receiver may keep it.
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

export interface Comparison extends Pick<SyncOptions, "engine" | "bucket" | "sizeOnly"> {
  readonly record: ObjectRecord;
  readonly file: LocalFile;
}

/** Compares the sizes, then the MD5 of the object or of its parts. */
export async function hasSameBytes({ engine, bucket, record, file, sizeOnly }: Comparison): Promise<boolean> {
  if (record.encryption?.keyMd5 !== undefined) {
    throw new CommandError(
      "The object is encrypted with a customer-provided key, so it cannot be compared; nothing was changed.",
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

/** Splits the file into pieces of these sizes and returns the hex MD5 of each piece. */
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
