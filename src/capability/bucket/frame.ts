// Reads the frame of a request: JSON in a header, or JSON at the start of the body, before the bytes
// of an object. Only the JSON is buffered; its size is limited.
import type { Source } from "../../engine/engine.ts";
import type { HttpRequest } from "../../http/server/listen.ts";
import { release } from "../../http/server/release-buffer.ts";
import { type Fields, isFields } from "../../model/shape.ts";
import { FrameError } from "./errors.ts";

/** Fits a delete of 1000 keys of 1024 bytes, also if JSON escapes every character once. */
export const maxMetadataBytes = 2 * 1024 * 1024;

export interface Frame {
  readonly fields: Fields;
  /** The bytes after the JSON; empty if the JSON was in a header. */
  readonly source: Source;
  /** Must be called at the end, whether or not the source was read. */
  close(): Promise<void>;
}

const noBytes = new Uint8Array();

/** The JSON of a GET is in a header, which Node decodes as one character per byte. */
export function readHeaderFrame(request: HttpRequest): Frame {
  const text = request.header("cf-r2-request");
  if (text === undefined) {
    throw new FrameError("The header cf-r2-request is missing: this socket speaks the bucket protocol only.");
  }
  return { fields: parseFields(Buffer.from(text, "latin1")), source: noBytes, close: async () => {} };
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
  if (total !== undefined && total < size) throw new FrameError("The body is shorter than its metadata.");
  const whole = request.bufferedBody?.();
  if (whole === undefined) return readStreamedFrame(request.body(), size, total);
  return {
    fields: parseFields(whole.subarray(0, size)),
    source: whole.subarray(size),
    close: async () => {},
  };
}

async function readStreamedFrame(
  body: AsyncIterable<Uint8Array>,
  size: number,
  total: number | undefined,
): Promise<Frame> {
  const chunks = body[Symbol.asyncIterator]();
  const close = async () => {
    await chunks.return?.();
  };
  try {
    const { metadata, rest } = await readMetadata(chunks, size);
    const fields = parseFields(metadata);
    const source = {
      length: total === undefined ? undefined : total - size,
      async *chunks() {
        if (rest.length > 0) yield rest;
        for (;;) {
          const { done, value } = await chunks.next();
          if (done === true) return;
          yield value;
        }
      },
      release,
      cancel: close,
    };
    return { fields, source, close };
  } catch (error) {
    await close();
    throw error;
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

function parseFields(json: Uint8Array): Fields {
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(json));
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
