// The body of a Request or Response. It is stored in its original form, converted to a stream only
// on demand, and can be read once.
import { Blob, Buffer } from "node:buffer";
import { Readable } from "node:stream";
import { ReadableStream, TextDecoderStream, TransformStream } from "node:stream/web";
import { URLSearchParams } from "node:url";
import { TextDecoder } from "node:util";
import { toBytes } from "../../../binding/arguments.ts";
import { declaredLength, declareLength } from "../../../binding/fixed-length-stream.ts";
import { encodeFormData } from "./form-data-body.ts";
import { native } from "./native.ts";

const { FormData } = globalThis;

export type ByteStream = ReadableStream<Uint8Array>;

/** The stored form of a body. Scripts only receive copies of its bytes, which they may modify. */
export type BodySource = string | Uint8Array | ByteStream | (() => ByteStream);

export interface Body {
  source: BodySource;
  /** Whether the body was read, or taken by another owner. */
  isTaken: boolean;
  /** Aborts reading a body that is still being received. */
  readonly signal: AbortSignal | undefined;
}

export interface ExtractedBody {
  readonly body: Body | undefined;
  /** Content-Type derived from the value, used if the message does not set the header. */
  readonly contentType: string | undefined;
}

export function createBody(source: BodySource, signal?: AbortSignal): Body {
  return { source, isTaken: false, signal };
}

/** Accepts the body types of the standard; any other value is converted to text. */
export function extractBody(value: unknown): ExtractedBody {
  if (value === null || value === undefined) return { body: undefined, contentType: undefined };
  if (typeof value === "string") return { body: createBody(value), contentType: "text/plain;charset=UTF-8" };
  if (value instanceof ReadableStream) {
    if (value.locked || wasRead(value)) throw new TypeError(unusable);
    return { body: createBody(value), contentType: undefined };
  }
  const bytes = toBytes(value);
  // Copied, as the standard requires: the script may modify its buffer before the body is sent.
  if (bytes !== undefined) return { body: createBody(Buffer.from(bytes)), contentType: undefined };
  return extractRare(value);
}

function extractRare(value: unknown): ExtractedBody {
  if (value instanceof URLSearchParams) {
    const contentType = "application/x-www-form-urlencoded;charset=UTF-8";
    return { body: createBody(value.toString()), contentType };
  }
  if (value instanceof Blob) {
    return { body: createBlobBody(value), contentType: value.type === "" ? undefined : value.type };
  }
  if (value instanceof FormData) {
    const { blob, contentType } = encodeFormData(value);
    return { body: createBlobBody(blob), contentType };
  }
  if (Symbol.asyncIterator in Object(value)) {
    const encoded = new native.Response(value as ReadableStream);
    return { body: createBody(encoded.body as ByteStream), contentType: undefined };
  }
  return extractBody(`${value as string}`);
}

function createBlobBody(blob: Blob): Body {
  return createBody(blob.size === 0 ? "" : () => withLength(blob.stream() as ByteStream, blob.size));
}

/** Whether the body is known to be empty without reading it. */
export function isEmpty({ source }: Body): boolean {
  if (source instanceof ReadableStream) return declaredLength(source) === 0;
  return typeof source !== "function" && source.length === 0;
}

const unusable =
  "The body has already been read, or is being read: it can be read only once. " +
  "Call clone() before reading it to read it twice.";

function wasRead(stream: ByteStream): boolean {
  return Readable.isDisturbed(stream as unknown as NodeJS.ReadableStream);
}

export function isUsed({ source, isTaken }: Body): boolean {
  return isTaken || (source instanceof ReadableStream && wasRead(source));
}

/** Moves the body to another owner; the first owner can no longer read it. */
export function moveBody(body: Body): Body {
  const source = detach(body);
  if (!(source instanceof ReadableStream)) return createBody(source);
  // The script may hold a reference to the stream, so the new owner gets a new stream.
  const length = declaredLength(source);
  return createBody(withLength(source.pipeThrough(new TransformStream()), length));
}

/** Takes the body from its owner, in its current form. */
export function takeBody(body: Body): string | Uint8Array | ByteStream {
  const source = detach(body);
  return typeof source === "function" ? source() : source;
}

function detach(body: Body): BodySource {
  const { source } = body;
  if (isUsed(body) || (source instanceof ReadableStream && source.locked)) throw new TypeError(unusable);
  body.isTaken = true;
  if (!(source instanceof ReadableStream)) body.source = "";
  return source;
}

/** Returns the stream that the script sees. Every call returns the same stream. */
export function openStream(body: Body): ByteStream {
  if (body.source instanceof ReadableStream) return body.source;
  if (body.isTaken) {
    const lockedStream: ByteStream = new ReadableStream();
    lockedStream.getReader();
    body.source = lockedStream;
    return lockedStream;
  }
  body.source = typeof body.source === "function" ? body.source() : toStream(body.source);
  return body.source;
}

function toStream(value: string | Uint8Array): ByteStream {
  // Copied: a byte stream takes ownership of a chunk's buffer, which stored bytes may share.
  const bytes = new Uint8Array(typeof value === "string" ? Buffer.from(value) : value);
  // Read the length now: enqueue detaches the buffer, which sets the length of the array to 0.
  const { length } = bytes;
  const stream: ByteStream = new ReadableStream({
    type: "bytes",
    start(controller) {
      if (length > 0) controller.enqueue(bytes);
      controller.close();
    },
  });
  return withLength(stream, length);
}

function withLength(stream: ByteStream, length: number | undefined): ByteStream {
  if (length !== undefined) declareLength(stream, length);
  return stream;
}

/** Creates a second body with the same bytes. */
export function cloneBody(body: Body): Body {
  if (isUsed(body)) throw new TypeError(unusable);
  if (typeof body.source === "string" || body.source instanceof Uint8Array) return createBody(body.source);
  const stream = openStream(body);
  if (stream.locked) throw new TypeError(unusable);
  const length = declaredLength(stream);
  const [mine, other] = stream.tee();
  body.source = withLength(mine, length);
  return createBody(withLength(other, length), body.signal);
}

/** Reads the whole body into a new buffer. */
export async function readBytes(body: Body | undefined): Promise<Uint8Array<ArrayBuffer>> {
  const value = body === undefined ? "" : takeBody(body);
  if (typeof value === "string") return new Uint8Array(Buffer.from(value));
  return new Uint8Array(value instanceof Uint8Array ? value : await collect(value));
}

export async function readText(body: Body | undefined): Promise<string> {
  const value = body === undefined ? "" : takeBody(body);
  if (typeof value === "string") return value.toWellFormed().replace(/^\ufeff/, "");
  return new TextDecoder().decode(value instanceof Uint8Array ? value : await collect(value));
}

/** Decodes the body as a stream of text chunks. */
export function readTextStream(body: Body | undefined): ReadableStream<string> {
  const bytes = body === undefined ? toStream("") : openStream(createBody(detach(body)));
  return bytes.pipeThrough(new TextDecoderStream() as never);
}

async function collect(stream: ByteStream): Promise<Uint8Array> {
  const reader: ReadableStreamDefaultReader<unknown> = stream.getReader();
  const chunks: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    if (!(value instanceof Uint8Array)) {
      const fault = new TypeError(`The stream gave a ${typeof value} instead of a Uint8Array.`);
      await reader.cancel(fault);
      throw fault;
    }
    chunks.push(value);
  }
}
