// Reads one response from the bytes of a connection. The sender is not trusted: whatever is not valid
// HTTP/1.1, or of an unclear length, is an error.
import { Buffer } from "node:buffer";
import { parseResponseHead, type ResponseHead } from "./parse-head.ts";

export interface ResponseEvents {
  onHead(head: ResponseHead, length: BodyLength): void;
  /** The bytes are valid only during the call. */
  onBytes(bytes: Buffer): void;
  /** The response is complete. Called once, and nothing is called after it. */
  onEnd(): void;
}

/** Number of bytes; undefined for a body in chunks or until the end of the connection. */
export type BodyLength = number | undefined;

export interface ResponseReader {
  /** Throws an InvalidResponse. Returns the number of bytes that belong to the response. */
  read(bytes: Buffer): number;
  /** The connection has ended. Returns whether that completes the response. */
  endOfConnection(): boolean;
}

export class InvalidResponse extends Error {
  override readonly name = "InvalidResponse";
}

const maxHeadBytes = 16 * 1024;
const maxInformational = 16;
const chunkLine = /^[0-9a-f]{1,12}$/i;
/** The line of a chunk's size, and a line of the trailer. */
const maxLineBytes = 1024;
const maxTrailerLines = 64;

type State = "head" | "length" | "chunk size" | "chunk" | "chunk end" | "trailer" | "until end" | "complete";

export function createResponseReader(method: string, events: ResponseEvents): ResponseReader {
  let state: State = "head";
  /** The start of a head or line that has not arrived completely. */
  let held: Buffer | undefined;
  let remaining = 0;
  let informational = 0;
  let trailerLines = 0;

  function complete(): void {
    state = "complete";
    events.onEnd();
  }

  /** Returns the position after the text up to `mark`, or -1 if its end has not arrived. */
  function readHead(bytes: Buffer, from: number): number {
    const joined = held === undefined ? bytes.subarray(from) : Buffer.concat([held, bytes.subarray(from)]);
    const end = joined.indexOf("\r\n\r\n");
    if (end === -1 ? joined.length > maxHeadBytes : end > maxHeadBytes) {
      throw new InvalidResponse("The head of the response is too large.");
    }
    if (end === -1) {
      held = Buffer.from(joined);
      return -1;
    }
    const next = from + end + 4 - (held?.length ?? 0);
    held = undefined;
    onHead(joined.toString("latin1", 0, end + 2));
    return next;
  }

  function onHead(text: string): void {
    const head = parseResponseHead(text);
    if (head === undefined || head.status === 101)
      throw new InvalidResponse("The response has no valid head.");
    if (head.status < 200) {
      if (++informational > maxInformational) throw new InvalidResponse("The response does not start.");
      return;
    }
    const length = bodyLength(method, head);
    state = length === "chunked" ? "chunk size" : length === "until end" ? "until end" : "length";
    remaining = typeof length === "number" ? length : 0;
    events.onHead(head, typeof length === "number" ? length : undefined);
    if (length === 0) complete();
  }

  /** Returns the position after the line, or -1 if its end has not arrived. */
  function readLine(bytes: Buffer, from: number, onLine: (line: string) => void): number {
    const joined = held === undefined ? bytes.subarray(from) : Buffer.concat([held, bytes.subarray(from)]);
    const end = joined.indexOf("\r\n");
    if ((end === -1 ? joined.length : end) > maxLineBytes) {
      throw new InvalidResponse("A chunk of the response has an invalid size.");
    }
    if (end === -1) {
      held = Buffer.from(joined);
      return -1;
    }
    const next = from + end + 2 - (held?.length ?? 0);
    held = undefined;
    onLine(joined.toString("latin1", 0, end));
    return next;
  }

  function onChunkSize(line: string): void {
    if (!chunkLine.test(line)) throw new InvalidResponse("A chunk of the response has an invalid size.");
    remaining = Number.parseInt(line, 16);
    state = remaining === 0 ? "trailer" : "chunk";
  }

  function onChunkEnd(line: string): void {
    if (line !== "") throw new InvalidResponse("A chunk of the response has an invalid end.");
    state = "chunk size";
  }

  function onTrailer(line: string): void {
    if (line === "") complete();
    else if (++trailerLines > maxTrailerLines) throw new InvalidResponse("The trailer is too long.");
  }

  function readBytes(bytes: Buffer, from: number): number {
    const count = state === "until end" ? bytes.length - from : Math.min(remaining, bytes.length - from);
    if (count > 0) events.onBytes(bytes.subarray(from, from + count));
    remaining -= count;
    if (remaining === 0 && state === "length") complete();
    else if (remaining === 0 && state === "chunk") state = "chunk end";
    return from + count;
  }

  function step(bytes: Buffer, from: number): number {
    switch (state) {
      case "head":
        return readHead(bytes, from);
      case "chunk size":
        return readLine(bytes, from, onChunkSize);
      case "chunk end":
        return readLine(bytes, from, onChunkEnd);
      case "trailer":
        return readLine(bytes, from, onTrailer);
      default:
        return readBytes(bytes, from);
    }
  }

  return {
    read(bytes) {
      let position = 0;
      while (position < bytes.length && (state as State) !== "complete") {
        position = step(bytes, position);
        if (position === -1) return bytes.length;
      }
      return position;
    },
    endOfConnection() {
      if (state !== "until end") return false;
      complete();
      return true;
    },
  };
}

/** RFC 9112 6.3, without its leniency. */
function bodyLength(
  method: string,
  { status, byName, rawHeaders, hasRepeated }: ResponseHead,
): number | "chunked" | "until end" {
  const encoding = byName.get("transfer-encoding");
  const declared = byName.get("content-length");
  if (
    hasRepeated &&
    (isRepeated(rawHeaders, "content-length") || isRepeated(rawHeaders, "transfer-encoding"))
  ) {
    throw new InvalidResponse("The response declares its length twice.");
  }
  if (declared !== undefined && (encoding !== undefined || !/^\d{1,15}$/.test(declared))) {
    throw new InvalidResponse("The response declares an invalid length.");
  }
  if (encoding !== undefined && encoding.toLowerCase() !== "chunked") {
    throw new InvalidResponse("The response has an unknown transfer encoding.");
  }
  if (method === "HEAD" || status === 204 || status === 304) return 0;
  if (encoding !== undefined) return "chunked";
  return declared === undefined ? "until end" : Number(declared);
}

function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]!.toLowerCase() === name) count++;
  return count > 1;
}
