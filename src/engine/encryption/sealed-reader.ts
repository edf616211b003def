// Decrypts bytes in the format of sealed-blocks.ts, as a whole or by range.
import { Buffer } from "node:buffer";
import { createDecipheriv } from "node:crypto";
import { StoreError } from "../../model/errors.ts";
import type { ByteRange } from "../../model/range.ts";
import type { Context } from "../context.ts";
import { type DataKey, lastBlock, type StreamKey, saltBytes, streamKey, tagBytes } from "./sealed-blocks.ts";

/** The range of stored bytes that contains a range of plain bytes. */
interface SealedSpan {
  readonly firstBlock: number;
  readonly lastBlock: number;
  readonly stored: ByteRange;
}

function findSealedSpan(range: ByteRange, size: number, blockBytes: number): SealedSpan {
  const sealedBlockBytes = blockBytes + tagBytes;
  const last = lastBlock(size, blockBytes);
  const firstBlock = Math.min(Math.floor(range.offset / blockBytes), last);
  const end = Math.ceil((range.offset + range.length) / blockBytes) - 1;
  const lastRead = Math.min(Math.max(firstBlock, end), last);
  const storedEnd = lastRead === last ? size + (last + 1) * tagBytes : (lastRead + 1) * sealedBlockBytes;
  const offset = firstBlock * sealedBlockBytes;
  const stored = { offset: saltBytes + offset, length: storedEnd - offset };
  return { firstBlock, lastBlock: lastRead, stored };
}

/** How stored bytes are read for decryption. */
export interface SealedSource {
  /** Chunks belong to the receiver, which overwrites them. */
  read(stored: ByteRange): AsyncIterable<Uint8Array>;
  /** Called for chunks whose memory is not needed any more. */
  release?(chunk: Uint8Array): void;
}

/**
 * Decrypts the blocks that contain a range of plain bytes. Blocks that are in one chunk are decrypted
 * in its memory, because new memory costs as much as decrypting.
 */
export async function* decrypt(
  { blockBytes }: Pick<Context, "blockBytes">,
  dataKey: DataKey,
  part: number,
  size: number,
  range: ByteRange,
  source: SealedSource,
): AsyncIterable<Uint8Array> {
  const span = findSealedSpan(range, size, blockBytes);
  const key = streamKey(dataKey, await readSalt(source), part);
  const last = lastBlock(size, blockBytes);
  const sizeOf = (index: number) => (index === last ? size - last * blockBytes : blockBytes) + tagBytes;
  // A block that continues in the next chunk.
  const split = Buffer.allocUnsafeSlow(Math.min(blockBytes, size) + tagBytes);
  let filled = 0;
  let index = span.firstBlock;
  const open = (sealed: Uint8Array) => {
    const plain = cut(openBlock(key, sealed, index, index === last), range, index * blockBytes);
    index++;
    return plain;
  };
  for await (const chunk of source.read(span.stored)) {
    let taken = 0;
    let written = 0;
    if (filled > 0) {
      const slice = chunk.subarray(0, sizeOf(index) - filled);
      split.set(slice, filled);
      filled += slice.length;
      taken = slice.length;
      if (filled === sizeOf(index)) {
        filled = 0;
        const plain = open(split.subarray(0, sizeOf(index)));
        if (plain.length > 0) yield plain;
      }
    }
    for (; filled === 0 && index <= span.lastBlock && chunk.length - taken >= sizeOf(index); ) {
      const sealed = chunk.subarray(taken, taken + sizeOf(index));
      taken += sealed.length;
      const plain = open(sealed);
      chunk.set(plain, written);
      written += plain.length;
    }
    if (taken < chunk.length) {
      const rest = chunk.subarray(taken);
      if (filled + rest.length > split.length) throw damaged(new Error("there are too many sealed blocks"));
      split.set(rest, filled);
      filled += rest.length;
    }
    if (written > 0) yield chunk.subarray(0, written);
    else source.release?.(chunk);
  }
  if (index !== span.lastBlock + 1 || filled > 0) throw damaged(new Error("sealed blocks are missing"));
}

async function readSalt(source: SealedSource): Promise<Uint8Array> {
  const salt = Buffer.allocUnsafe(saltBytes);
  let filled = 0;
  for await (const chunk of source.read({ offset: 0, length: saltBytes })) {
    salt.set(chunk, filled);
    filled += chunk.length;
    source.release?.(chunk);
  }
  return salt.subarray(0, filled);
}

/** Decrypts bytes that are in memory as a whole. */
export function decryptWhole(
  { blockBytes }: Pick<Context, "blockBytes">,
  dataKey: DataKey,
  size: number,
  stored: Uint8Array,
): Uint8Array {
  const key = streamKey(dataKey, stored.subarray(0, saltBytes), 0);
  const last = lastBlock(size, blockBytes);
  const blocks: Uint8Array[] = [];
  for (let index = 0; index <= last; index++) {
    const at = saltBytes + index * (blockBytes + tagBytes);
    blocks.push(openBlock(key, stored.subarray(at, at + blockBytes + tagBytes), index, index === last));
  }
  return blocks.length === 1 ? blocks[0]! : Buffer.concat(blocks);
}

/** Returns the bytes of a block that begins at `start` that are in the range. */
function cut(block: Uint8Array, { offset, length }: ByteRange, start: number): Uint8Array {
  const from = Math.max(0, offset - start);
  return block.subarray(from, Math.max(from, Math.min(block.length, offset + length - start)));
}

function openBlock(key: StreamKey, sealed: Uint8Array, index: number, isLast: boolean): Uint8Array {
  try {
    // Checked here, because the same check in the options of the decipher costs a quarter of a small
    // block.
    if (sealed.length < tagBytes) throw new Error(`a sealed block has at least ${tagBytes} bytes`);
    const decipher = createDecipheriv("aes-256-gcm", key.bytes, key.nonce(index, isLast));
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    const plain = decipher.update(sealed.subarray(0, -tagBytes));
    decipher.final();
    return plain;
  } catch (cause) {
    throw damaged(cause);
  }
}

function damaged(cause: unknown): StoreError {
  return new StoreError("Damaged", {
    detail: "The stored bytes are damaged: a sealed block cannot be decrypted.",
    cause,
  });
}
