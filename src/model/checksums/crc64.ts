// CRC-64/NVME, eight bytes per step. 64-bit numbers are stored as two halves, because BigInt is ten
// times slower here.
import { Buffer } from "node:buffer";

/** Reflected polynomial of the NVMe specification. */
export const polynomial64 = 0x9a6c9329ac4bc9b5n;

/** Eight tables of 256 values in two halves. Table n is for a byte followed by n more bytes. */
const [lows, highs] = tables();

function tables(): [Uint32Array, Uint32Array] {
  const low = new Uint32Array(8 * 256);
  const high = new Uint32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let value = BigInt(byte);
    for (let bit = 0; bit < 8; bit++) value = (value >> 1n) ^ (value & 1n ? polynomial64 : 0n);
    low[byte] = Number(value & 0xffffffffn);
    high[byte] = Number(value >> 32n);
  }
  for (let at = 256; at < low.length; at++) {
    const [l, h] = [low[at - 256]!, high[at - 256]!];
    const first = l & 0xff;
    low[at] = ((l >>> 8) | (h << 24)) ^ low[first]!;
    high[at] = (h >>> 8) ^ high[first]!;
  }
  return [low, high];
}

export function crc64nvme(): { update(bytes: Uint8Array): void; digest(): Uint8Array } {
  let low = 0xffffffff | 0;
  let high = 0xffffffff | 0;

  function one(byte: number): void {
    const at = (low ^ byte) & 0xff;
    const [l, h] = [low, high];
    low = ((l >>> 8) | (h << 24)) ^ lows[at]!;
    high = (h >>> 8) ^ highs[at]!;
  }

  return {
    update(bytes) {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const whole = bytes.length - (bytes.length % 8);
      for (let at = 0; at < whole; at += 8) {
        const a = low ^ view.getInt32(at, true);
        const b = high ^ view.getInt32(at + 4, true);
        const i0 = 1792 + (a & 0xff);
        const i1 = 1536 + ((a >>> 8) & 0xff);
        const i2 = 1280 + ((a >>> 16) & 0xff);
        const i3 = 1024 + (a >>> 24);
        const i4 = 768 + (b & 0xff);
        const i5 = 512 + ((b >>> 8) & 0xff);
        const i6 = 256 + ((b >>> 16) & 0xff);
        const i7 = b >>> 24;
        low = lows[i0]! ^ lows[i1]! ^ lows[i2]! ^ lows[i3]! ^ lows[i4]! ^ lows[i5]! ^ lows[i6]! ^ lows[i7]!;
        high =
          highs[i0]! ^
          highs[i1]! ^
          highs[i2]! ^
          highs[i3]! ^
          highs[i4]! ^
          highs[i5]! ^
          highs[i6]! ^
          highs[i7]!;
      }
      for (let at = whole; at < bytes.length; at++) one(bytes[at]!);
    },
    digest() {
      const bytes = Buffer.alloc(8);
      bytes.writeInt32BE(~high, 0);
      bytes.writeInt32BE(~low, 4);
      return bytes;
    },
  };
}
