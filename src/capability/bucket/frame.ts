// Reads the frame of a request: JSON in a header, or JSON at the start of the body, before the bytes
// of an object. Only the JSON is buffered; its size is limited.
import type { Source } from "../../engine/engine.ts";
import { release } from "../../http/server/body/release-buffer.ts";
import type { HttpRequest } from "../../http/server/listen.ts";
import { limits } from "../../model/limits.ts";
import { type Fields, isFields, isWithinJsonLimits } from "../../model/shape.ts";
import { FrameError } from "./errors.ts";

/** Fits a delete of 1000 keys of 1024 bytes, also if JSON escapes every character once. */
export const maxMetadataBytes = 2 * 1024 * 1024;

/** Only lists of keys and of parts are longer. */
const largeMetadataBytes = 64 * 1024;
/** Requests of a socket whose large metadata is in memory. */
export const maxLargeFrames = 8;

export interface Frame {
  readonly fields: Fields;
  /** The bytes after the JSON; empty if the JSON was in a header. */
  readonly source: Source;
  /** Discards the rest of the body. Must be called before the response is written. */
  drain(): Promise<void>;
}

const noBytes = new Uint8Array();

/**
 * Runs `work`, which handles the request. Of requests with large metadata, others wait unread until
 * one has ended: they would fill the memory, and be parsed in one turn of the event loop.
 */
export function createLargeFrames() {
  const waiting: (() => void)[] = [];
  let active = 0;
  return async <T>(request: HttpRequest, work: () => Promise<T>): Promise<T> => {
    if (Number(request.header("cf-r2-metadata-size") ?? 0) <= largeMetadataBytes) return work();
    if (active === maxLargeFrames) await new Promise<void>((resolve) => waiting.push(resolve));
    else active++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) active--;
      else next();
    }
  };
}

/** The JSON of a GET is in a header, which Node decodes as one character per byte. */
export function readHeaderFrame(request: HttpRequest): Frame {
  const text = request.header("cf-r2-request");
  if (text === undefined) {
    throw new FrameError("The header cf-r2-request is missing: this socket speaks the bucket protocol only.");
  }
  const isAscii = !/[^\x00-\x7f]/.test(text);
  const json = isAscii ? text : Buffer.from(text, "latin1");
  return { fields: parseFields(json), source: noBytes, drain: async () => {} };
}

export async function readBodyFrame(request: HttpRequest): Promise<Frame> {
  const size = parseSize(request, "cf-r2-metadata-size");
  if (size === undefined) {
    throw new FrameError(
      "The header cf-r2-metadata-size is missing: this socket speaks the bucket protocol only.",
    );
  }
  if (size > maxMetadataBytes) throw new FrameError(`The metadata has more than ${maxMetadataBytes} bytes.`);
  const total = parseSize(request, "content-length");
  if (total === undefined) throw new FrameError("The header content-length is missing.");
  if (total < size) throw new FrameError("The body is shorter than its metadata.");
  // A refused body is read to its end, which a body of this size does not deserve.
  if (total - size > limits.singleWriteBytes) throw new FrameError(undefined, "EntityTooLarge");
  const whole = request.bufferedBody?.();
  if (whole === undefined) return readStreamedFrame(request.body(), size, total - size);
  return {
    fields: parseFields(whole.subarray(0, size)),
    source: whole.subarray(size),
    drain: async () => {},
  };
}

async function readStreamedFrame(
  body: AsyncIterable<Uint8Array>,
  size: number,
  length: number,
): Promise<Frame> {
  const chunks = body[Symbol.asyncIterator]();
  try {
    const { metadata, rest } = await readMetadata(chunks, size);
    const fields = parseFields(metadata);
    const source = {
      length,
      async *chunks() {
        if (rest.length > 0) yield rest;
        for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
      },
      release,
      // The rest is discarded later, so that the engine does not wait for the sender.
      cancel: async () => {},
    };
    return { fields, source, drain: () => discard(chunks) };
  } catch (error) {
    await chunks.return?.();
    throw error;
  }
}

/**
 * The runtime sends the whole body before it reads the response: for a response that arrives earlier,
 * it reports a lost connection.
 */
async function discard(chunks: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) release(next.value);
  } catch {
    // The client disconnected, so there is nothing left to read.
  }
}

/** Memory grows with the bytes received, not with the declared size. */
async function readMetadata(
  chunks: AsyncIterator<Uint8Array>,
  size: number,
): Promise<{ readonly metadata: Buffer; readonly rest: Uint8Array }> {
  const parts: Uint8Array[] = [];
  let missing = size;
  for (;;) {
    const { done, value } = await chunks.next();
    if (done === true) throw new FrameError("The body ended inside its metadata.");
    parts.push(value.subarray(0, missing));
    if (value.length >= missing) return { metadata: Buffer.concat(parts), rest: value.subarray(missing) };
    missing -= value.length;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function parseFields(json: Uint8Array | string): Fields {
  if (typeof json !== "string" && !isWithinJsonLimits(json)) {
    throw new FrameError("The metadata has too many values, or lists too deep in each other.");
  }
  let value: unknown;
  try {
    value = JSON.parse(typeof json === "string" ? json : utf8.decode(json));
  } catch {
    throw new FrameError("The metadata is not valid JSON in UTF-8.");
  }
  if (!isFields(value)) throw new FrameError("The metadata is not a JSON object.");
  return value;
}

function parseSize(request: HttpRequest, name: string): number | undefined {
  const text = request.header(name);
  if (text === undefined) return undefined;
  const size = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(size)) return size;
  throw new FrameError(`The header ${name} is not a number of bytes.`);
}
