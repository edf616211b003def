// Members of Blob that older Node versions lack or implement incorrectly.
import { Blob } from "node:buffer";
import { type ReadableStream, TextDecoderStream } from "node:stream/web";

function textStream(this: Blob): ReadableStream<string> {
  return this.stream().pipeThrough(new TextDecoderStream() as never);
}

async function bytes(this: Blob): Promise<Uint8Array> {
  return new Uint8Array(await this.arrayBuffer());
}

const nativeSlice = Blob.prototype.slice;

/** Rounds its arguments first: a fractional argument crashes older Node versions. */
function slice(
  this: Blob,
  start: number | undefined = undefined,
  end: number | undefined = undefined,
  contentType: string | undefined = undefined,
): Blob {
  return nativeSlice.call(this, start && toInteger(start), end && toInteger(end), contentType);
}

/** Rounds as Web IDL's [Clamp]: to the nearest integer, with ties to even. */
function toInteger(value: number): number {
  const number = Math.min(Math.max(Number(value) || 0, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
  const nearest = Math.round(number);
  const isTie = Math.abs(nearest - number) === 0.5;
  return isTie && nearest % 2 !== 0 ? nearest - 1 : nearest;
}

export function addBlobMembers(): void {
  const prototype = Blob.prototype as Blob & { bytes?: unknown; textStream?: unknown };
  if (prototype.textStream !== undefined) return;
  define("textStream", textStream);
  define("bytes", bytes);
  define("slice", slice);
}

function define(name: string, value: unknown): void {
  Object.defineProperty(Blob.prototype, name, {
    value,
    writable: true,
    configurable: true,
    enumerable: true,
  });
}
