// Values of the recorded histories: each is written once; its name determines its bytes and etag.
import { createHash } from "node:crypto";

const KiB = 1024;
/** Body sizes that are stored inline, as a blob, and as two parts. */
const shapes = { small: 40, file: 5 * KiB, parts: 9 * KiB } as const;
export const partBytes = 5 * KiB;

export type Shape = keyof typeof shapes;

/** Returns the bytes of a value, whose name starts with its shape. */
export function bytesNamed(name: string): Buffer {
  return Buffer.alloc(shapes[shapeOf(name)], `${name}\n`);
}

export function shapeOf(name: string): Shape {
  return name.slice(0, name.indexOf(" ")) as Shape;
}

export function partsOf(bytes: Buffer): Buffer[] {
  return [bytes.subarray(0, partBytes), bytes.subarray(partBytes)];
}

/** Computes the etag of a value, so that the response to its write is not needed. */
export function etagNamed(name: string): string {
  const bytes = bytesNamed(name);
  if (shapeOf(name) !== "parts") return md5(bytes).toString("hex");
  const parts = partsOf(bytes);
  return `${md5(Buffer.concat(parts.map(md5))).toString("hex")}-${parts.length}`;
}

/** Checks that the bytes are one complete value and match the etag. */
export function assertWhole(bytes: Uint8Array, etag: string): void {
  const end = bytes.indexOf(10);
  const name = Buffer.from(bytes.subarray(0, end)).toString();
  const isWhole = name !== "" && bytesNamed(name).equals(bytes) && etagNamed(name) === etag;
  if (!isWhole)
    throw new Error(`Read ${bytes.length} bytes that begin with "${name}" under the etag ${etag}`);
}

function md5(bytes: Uint8Array): Buffer {
  return createHash("md5").update(bytes).digest();
}
