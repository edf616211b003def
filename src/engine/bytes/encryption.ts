// Encryption with a customer's key (SSE-C), which is never stored: it seals a random data key.
// Bytes are sealed in blocks (STREAM): ranges can be read; truncation and reordering are detected.
import { createCipheriv, createDecipheriv, createHash, hkdfSync, timingSafeEqual } from "node:crypto";
import { StoreError } from "../../model/errors.ts";
import type { Encryption } from "../../model/object.ts";
import type { ByteRange } from "../../model/range.ts";
import type { Context } from "../context.ts";
import { rechunk } from "./byte-streams.ts";

const saltBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;

/** The names to which a data key is bound. `scope` is an object version or an upload id. */
export interface KeySubject {
  readonly bucket: string;
  readonly key: string;
  readonly scope: string;
}

export interface SealedDataKey {
  readonly encryption: Encryption;
  readonly dataKey: Uint8Array;
}

export function sealNewKey(context: Context, customerKey: Uint8Array, subject: KeySubject): SealedDataKey {
  const dataKey = context.randomBytes(32);
  const salt = context.randomBytes(saltBytes);
  const nonce = context.randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", deriveWrappingKey(customerKey, salt, subject), nonce);
  const sealedKey = Buffer.concat([salt, nonce, cipher.update(dataKey), cipher.final(), cipher.getAuthTag()]);
  return { encryption: { keyMd5: keyMd5(customerKey), scope: subject.scope, sealedKey }, dataKey };
}

/** Opens a sealed data key. Throws AccessDenied if the customer's key is wrong. */
export function openKey(
  customerKey: Uint8Array,
  encryption: Encryption,
  subject: Omit<KeySubject, "scope">,
): Uint8Array {
  const sealed = encryption.sealedKey;
  const salt = sealed.subarray(0, saltBytes);
  const nonce = sealed.subarray(saltBytes, saltBytes + nonceBytes);
  const wrapping = deriveWrappingKey(customerKey, salt, { ...subject, scope: encryption.scope });
  try {
    const decipher = createDecipheriv("aes-256-gcm", wrapping, nonce);
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    return Buffer.concat([
      decipher.update(sealed.subarray(saltBytes + nonceBytes, -tagBytes)),
      decipher.final(),
    ]);
  } catch (cause) {
    throw new StoreError("AccessDenied", { cause });
  }
}

/** Returns the data key of a stored object. Throws if only one of caller and record has a key. */
export function dataKeyFor(
  customerKey: Uint8Array | undefined,
  encryption: Encryption | undefined,
  subject: Omit<KeySubject, "scope">,
): Uint8Array | undefined {
  if (encryption === undefined) {
    if (customerKey === undefined) return undefined;
    throw new StoreError("InvalidArgument", {
      detail: "The object is not encrypted with a customer key: read it without ssecKey.",
    });
  }
  if (customerKey === undefined) {
    throw new StoreError("InvalidArgument", {
      detail: "The object is encrypted with a customer key: pass the same key as ssecKey.",
    });
  }
  return openKey(customerKey, encryption, subject);
}

export function isSameKey(customerKey: Uint8Array, encryption: Encryption): boolean {
  return timingSafeEqual(Buffer.from(keyMd5(customerKey)), Buffer.from(encryption.keyMd5));
}

function keyMd5(customerKey: Uint8Array): string {
  return createHash("md5").update(customerKey).digest("hex");
}

function deriveWrappingKey(customerKey: Uint8Array, salt: Uint8Array, subject: KeySubject): Uint8Array {
  // Length prefixes distinguish ("ab", "c") from ("a", "bc").
  const names = [subject.bucket, subject.key, subject.scope].map(
    (name) => `${Buffer.byteLength(name)}:${name}`,
  );
  const info = createHash("sha256")
    .update(`store sse-c key ${names.join("")}`)
    .digest();
  return new Uint8Array(hkdfSync("sha256", customerKey, salt, info, 32));
}

function streamKey(dataKey: Uint8Array, salt: Uint8Array, part: number): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", dataKey, salt, `store sse-c stream ${part}`, 32));
}

function blockNonce(index: number, isLast: boolean): Uint8Array {
  const nonce = Buffer.alloc(nonceBytes);
  nonce.writeUInt32BE(index, nonceBytes - 5);
  nonce.writeUInt8(isLast ? 1 : 0, nonceBytes - 1);
  return nonce;
}

/** Seals a stream. `part` is 0 for the body of an object that is put in one request. */
export async function* encrypt(
  context: Context,
  dataKey: Uint8Array,
  part: number,
  chunks: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const salt = context.randomBytes(saltBytes);
  const key = streamKey(dataKey, salt, part);
  const seal = (block: Uint8Array, index: number, isLast: boolean) => {
    const cipher = createCipheriv("aes-256-gcm", key, blockNonce(index, isLast));
    return Buffer.concat([cipher.update(block), cipher.final(), cipher.getAuthTag()]);
  };
  // Readers derive the key of the stream from the data key and this salt.
  yield salt;
  let pending: Uint8Array | undefined;
  let index = 0;
  // Seal each block when the next arrives: only then is it known whether the block is the last.
  for await (const block of rechunk(chunks, context.blockBytes)) {
    if (pending !== undefined) yield seal(pending, index++, false);
    pending = block;
  }
  yield seal(pending ?? new Uint8Array(), index, true);
}

/** Returns the size of a sealed stream of `size` plain bytes. */
export function sealedSize(size: number, blockBytes: number): number {
  return saltBytes + size + Math.max(1, Math.ceil(size / blockBytes)) * tagBytes;
}

/** The range of stored bytes that contains a range of plain bytes. */
interface SealedSpan {
  readonly firstBlock: number;
  readonly lastBlock: number;
  readonly stored: ByteRange;
}

function findSealedSpan(range: ByteRange, size: number, blockBytes: number): SealedSpan {
  const sealedBlockBytes = blockBytes + tagBytes;
  const blocks = Math.max(1, Math.ceil(size / blockBytes));
  const firstBlock = Math.min(Math.floor(range.offset / blockBytes), blocks - 1);
  const lastBlock = Math.min(
    Math.max(firstBlock, Math.ceil((range.offset + range.length) / blockBytes) - 1),
    blocks - 1,
  );
  const end = lastBlock === blocks - 1 ? size + blocks * tagBytes : (lastBlock + 1) * sealedBlockBytes;
  const offset = firstBlock * sealedBlockBytes;
  return { firstBlock, lastBlock, stored: { offset: saltBytes + offset, length: end - offset } };
}

/** Decrypts the blocks that contain a range of plain bytes. `read` returns stored bytes. */
export async function* decrypt(
  { blockBytes }: Pick<Context, "blockBytes">,
  dataKey: Uint8Array,
  part: number,
  size: number,
  range: ByteRange,
  read: (stored: ByteRange) => AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  let salt: Uint8Array = new Uint8Array();
  for await (const chunk of rechunk(read({ offset: 0, length: saltBytes }), saltBytes)) salt = chunk;
  const key = streamKey(dataKey, salt, part);
  const span = findSealedSpan(range, size, blockBytes);
  const lastIndex = Math.max(0, Math.ceil(size / blockBytes) - 1);
  let index = span.firstBlock;
  for await (const sealed of rechunk(read(span.stored), blockBytes + tagBytes)) {
    const plain = openBlock(key, sealed, index, index === lastIndex);
    const start = Math.max(0, range.offset - index * blockBytes);
    const end = Math.min(plain.length, range.offset + range.length - index * blockBytes);
    if (end > start) yield plain.subarray(start, end);
    index++;
  }
  if (index !== span.lastBlock + 1) throw damaged(new Error("sealed blocks are missing"));
}

function openBlock(key: Uint8Array, sealed: Uint8Array, index: number, isLast: boolean): Uint8Array {
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, blockNonce(index, isLast));
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
