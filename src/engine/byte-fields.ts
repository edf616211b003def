// Fields written one behind the other into bytes, and read back in the same order. Big endian.
import { invariant } from "../model/errors.ts";

export class ByteWriter {
  #buffer = Buffer.allocUnsafe(512);
  #length = 0;

  u8(value: number): void {
    this.#length = this.#room(1).writeUInt8(value, this.#length);
  }

  u32(value: number): void {
    this.#length = this.#room(4).writeUInt32BE(value, this.#length);
  }

  f64(value: number): void {
    this.#length = this.#room(8).writeDoubleBE(value, this.#length);
  }

  /** Hex digits as `size` bytes. */
  hex(digits: string, size: number): void {
    invariant(
      this.#room(size).write(digits, this.#length, "hex") === size,
      `"${digits}" is ${size} bytes of hex`,
    );
    this.#length += size;
  }

  bytes(bytes: Uint8Array): void {
    this.#room(bytes.length).set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** UTF-8 with its length before it. */
  text(text: string): void {
    const size = Buffer.byteLength(text);
    this.u32(size);
    this.#length += this.#room(size).write(text, this.#length);
  }

  /** The bytes in a buffer of exactly their size: they travel between threads, which copies whole buffers. */
  finish(): Uint8Array {
    return new Uint8Array(this.#buffer.subarray(0, this.#length));
  }

  #room(size: number): Buffer {
    const needed = this.#length + size;
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    return this.#buffer;
  }
}

export class ByteReader {
  readonly #buffer: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u8(): number {
    return this.#buffer.readUInt8(this.#advance(1));
  }

  u32(): number {
    return this.#buffer.readUInt32BE(this.#advance(4));
  }

  f64(): number {
    return this.#buffer.readDoubleBE(this.#advance(8));
  }

  hex(size: number): string {
    const at = this.#advance(size);
    return this.#buffer.toString("hex", at, at + size);
  }

  bytes(size: number): Uint8Array {
    const at = this.#advance(size);
    return this.#buffer.subarray(at, at + size);
  }

  text(): string {
    const size = this.u32();
    if (size === 0) return "";
    const at = this.#advance(size);
    return this.#buffer.toString("utf8", at, at + size);
  }

  #advance(size: number): number {
    const at = this.#at;
    this.#at += size;
    invariant(this.#at <= this.#buffer.length, "a stored record is as long as its fields");
    return at;
  }
}
