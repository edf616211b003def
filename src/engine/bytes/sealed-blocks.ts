// The format of encrypted bytes: a salt, then blocks that are sealed one by one (STREAM). A range can
// be read without the rest; truncated, moved and changed blocks are detected.
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { StoreError } from "../../model/errors.ts";
import type { ByteRange } from "../../model/range.ts";
import type { Context } from "../context.ts";
import { rechunk } from "./byte-streams.ts";

const saltBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;
/** Bytes of the salt that begin every nonce of a key that is used directly. */
const prefixBytes = nonceBytes - 5;

/** The key of an object's bytes. */
export interface DataKey {
  readonly bytes: Uint8Array;
  /**
   * "derive": each stream gets its own key. "direct": the key seals one body, so it needs no other;
   * only parts get keys of their own.
   */
  readonly use: "derive" | "direct";
}

interface StreamKey {
  readonly bytes: Uint8Array;
  nonce(index: number, isLast: boolean): Uint8Array;
}

function streamKey({ bytes, use }: DataKey, salt: Uint8Array, part: number): StreamKey {
  const isDirect = use === "direct" && part === 0;
  const key = isDirect
    ? bytes
    : new Uint8Array(hkdfSync("sha256", bytes, salt, `store sse-c stream ${part}`, 32));
  const nonce = Buffer.alloc(nonceBytes);
  if (isDirect) nonce.set(salt.subarray(0, prefixBytes));
  return {
    bytes: key,
    // One buffer serves all blocks: a cipher copies the nonce when it is created.
    nonce(index, isLast) {
      nonce.writeUInt32BE(index, prefixBytes);
      nonce.writeUInt8(isLast ? 1 : 0, nonceBytes - 1);
      return nonce;
    },
  };
}

/** Seals a stream. `part` is 0 for the body of an object that is put in one request. */
export async function* encrypt(
  context: Context,
  dataKey: DataKey,
  part: number,
  chunks: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const salt = context.randomBytes(saltBytes);
  const key = streamKey(dataKey, salt, part);
  // Readers derive the key of the stream from the data key and this salt.
  yield salt;
  let pending: Uint8Array | undefined;
  let index = 0;
  // Seal each block when the next arrives: only then is it known whether the block is the last.
  for await (const block of rechunk(chunks, context.blockBytes)) {
    if (pending !== undefined) yield* sealBlock(key, pending, index++, "middle");
    pending = block;
  }
  yield* sealBlock(key, pending ?? new Uint8Array(), index, "last");
}

/** Returns the sealed bytes and their tag. */
function sealBlock(
  key: StreamKey,
  block: Uint8Array,
  index: number,
  position: "middle" | "last",
): readonly [Uint8Array, Uint8Array] {
  const cipher = createCipheriv("aes-256-gcm", key.bytes, key.nonce(index, position === "last"));
  const sealed = cipher.update(block);
  cipher.final();
  return [sealed, cipher.getAuthTag()];
}

/** Seals bytes that are in memory as a whole into `target`, which has their sealed size. */
export function encryptInto(
  target: Uint8Array,
  context: Pick<Context, "randomBytes" | "blockBytes">,
  dataKey: DataKey,
  part: number,
  bytes: Uint8Array,
): void {
  const { blockBytes } = context;
  const salt = context.randomBytes(saltBytes);
  const key = streamKey(dataKey, salt, part);
  target.set(salt);
  const last = lastBlock(bytes.length, blockBytes);
  let at = saltBytes;
  for (let index = 0; index <= last; index++) {
    const block = bytes.subarray(index * blockBytes, (index + 1) * blockBytes);
    const [sealed, tag] = sealBlock(key, block, index, index === last ? "last" : "middle");
    target.set(sealed, at);
    target.set(tag, at + sealed.length);
    at += sealed.length + tagBytes;
  }
}

/** Returns the size of a sealed stream of `size` plain bytes. */
export function sealedSize(size: number, blockBytes: number): number {
  return saltBytes + size + (lastBlock(size, blockBytes) + 1) * tagBytes;
}

/** An empty body is one empty block. */
function lastBlock(size: number, blockBytes: number): number {
  return Math.max(0, Math.ceil(size / blockBytes) - 1);
}

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

/** Decrypts the blocks that contain a range of plain bytes. `read` returns stored bytes. */
export async function* decrypt(
  { blockBytes }: Pick<Context, "blockBytes">,
  dataKey: DataKey,
  part: number,
  size: number,
  range: ByteRange,
  read: (stored: ByteRange) => AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  let salt: Uint8Array = new Uint8Array();
  for await (const chunk of rechunk(read({ offset: 0, length: saltBytes }), saltBytes)) salt = chunk;
  const key = streamKey(dataKey, salt, part);
  const span = findSealedSpan(range, size, blockBytes);
  const last = lastBlock(size, blockBytes);
  let index = span.firstBlock;
  for await (const sealed of rechunk(read(span.stored), blockBytes + tagBytes)) {
    const plain = cut(openBlock(key, sealed, index, index === last), range, index * blockBytes);
    if (plain.length > 0) yield plain;
    index++;
  }
  if (index !== span.lastBlock + 1) throw damaged(new Error("sealed blocks are missing"));
}

/** Decrypts a range of bytes that are in memory as a whole. */
export function decryptWhole(
  { blockBytes }: Pick<Context, "blockBytes">,
  dataKey: DataKey,
  size: number,
  range: ByteRange,
  stored: Uint8Array,
): Uint8Array {
  const key = streamKey(dataKey, stored.subarray(0, saltBytes), 0);
  const span = findSealedSpan(range, size, blockBytes);
  const last = lastBlock(size, blockBytes);
  const blocks: Uint8Array[] = [];
  for (let index = span.firstBlock; index <= span.lastBlock; index++) {
    const at = saltBytes + index * (blockBytes + tagBytes);
    const sealed = stored.subarray(at, at + blockBytes + tagBytes);
    blocks.push(cut(openBlock(key, sealed, index, index === last), range, index * blockBytes));
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
    const nonce = key.nonce(index, isLast);
    const decipher = createDecipheriv("aes-256-gcm", key.bytes, nonce, { authTagLength: tagBytes });
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
