// The format of encrypted bytes: a salt, then blocks that are sealed one by one (STREAM). A range can
// be read without the rest; truncated, moved and changed blocks are detected.
import { Buffer } from "node:buffer";
import { createCipheriv, hkdfSync } from "node:crypto";
import type { Context } from "../context.ts";

export const saltBytes = 16;
const nonceBytes = 12;
export const tagBytes = 16;
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

export interface StreamKey {
  readonly bytes: Uint8Array;
  nonce(index: number, isLast: boolean): Uint8Array;
}

export function streamKey({ bytes, use }: DataKey, salt: Uint8Array, part: number): StreamKey {
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
  const { blockBytes } = context;
  const outputs = createOutputs(blockBytes);
  // The block that is sealed when more bytes arrive: only then is it known not to be the last.
  const pending = Buffer.allocUnsafeSlow(blockBytes);
  let filled = 0;
  let index = 0;
  for await (const chunk of chunks) {
    const output = outputs.next(filled + chunk.length);
    let at = 0;
    for (let taken = 0; taken < chunk.length; ) {
      if (filled === blockBytes) {
        at = sealInto(output, at, key, pending, index++, "middle");
        filled = 0;
      }
      if (filled === 0 && chunk.length - taken > blockBytes) {
        const block = chunk.subarray(taken, taken + blockBytes);
        at = sealInto(output, at, key, block, index++, "middle");
        taken += blockBytes;
        continue;
      }
      const slice = chunk.subarray(taken, taken + blockBytes - filled);
      pending.set(slice, filled);
      filled += slice.length;
      taken += slice.length;
    }
    if (at > 0) yield output.subarray(0, at);
  }
  const last = outputs.next(filled);
  yield last.subarray(0, sealInto(last, 0, key, pending.subarray(0, filled), index, "last"));
}

/** Returns buffers for sealed blocks. Each is reused only after two more were requested. */
function createOutputs(blockBytes: number) {
  const buffers: Uint8Array[] = [];
  let count = 0;
  return {
    /** Returns a buffer for the blocks that contain `bytes` plain bytes. */
    next(bytes: number): Uint8Array {
      const size = (Math.ceil(bytes / blockBytes) + 1) * (blockBytes + tagBytes);
      const found = buffers[count % 3];
      const buffer = found !== undefined && found.length >= size ? found : Buffer.allocUnsafeSlow(size);
      buffers[count++ % 3] = buffer;
      return buffer;
    },
  };
}

/** Seals a block at an offset of the target. Returns the offset after it. */
function sealInto(
  target: Uint8Array,
  at: number,
  key: StreamKey,
  block: Uint8Array,
  index: number,
  position: "middle" | "last",
): number {
  const [sealed, tag] = sealBlock(key, block, index, position);
  target.set(sealed, at);
  target.set(tag, at + sealed.length);
  return at + sealed.length + tagBytes;
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
    at = sealInto(target, at, key, block, index, index === last ? "last" : "middle");
  }
}

/** Returns the size of a sealed stream of `size` plain bytes. */
export function sealedSize(size: number, blockBytes: number): number {
  return saltBytes + size + (lastBlock(size, blockBytes) + 1) * tagBytes;
}

/** An empty body is one empty block. */
export function lastBlock(size: number, blockBytes: number): number {
  return Math.max(0, Math.ceil(size / blockBytes) - 1);
}
