// Writes a response: a small body in one write with the head, a large body with backpressure.
import type { ServerResponse } from "node:http";
import { dropRest, mustLinger } from "./linger.ts";
import type { ByteSource, HttpBody, HttpResponse } from "./listen.ts";
import type { ListenerState } from "./listener-state.ts";
import type { NodeInternals } from "./node-internals.ts";

const emptyBytes = new Uint8Array();

export async function writeAnswer(
  answer: HttpResponse,
  response: ServerResponse,
  state: ListenerState,
): Promise<void> {
  const message = response.req;
  const { status, statusText, body, onSent } = answer;
  const mayHaveBody = status !== 204 && status !== 304;
  const sendsLength = mayHaveBody && !(message.method === "HEAD" && body === null);
  const headers = headerLines(answer, sendsLength);
  if (response.hasHeader("connection")) headers.push("connection", "close");
  if (statusText === undefined || statusText === "") response.writeHead(status, headers);
  else response.writeHead(status, statusText, headers);
  const sendsBody = mayHaveBody && message.method !== "HEAD";
  if (body === null || typeof body === "string" || body instanceof Uint8Array) {
    if (mustLinger(message, response)) {
      // The head contains the length, so the response is complete for the client.
      response.write(sendsBody && body !== null ? asBuffer(body) : emptyBytes);
      await dropRest(message);
      response.end();
    } else endWith(response, sendsBody ? body : null, state.internals);
    onSent?.(sendsBody ? (bodyLength(body) ?? 0) : 0, !response.destroyed);
  } else if (sendsBody) {
    await stream(body, response, { streams: state.streams, onSent });
  } else {
    response.end();
    onSent?.(0, !response.destroyed);
    await body.cancel(undefined);
  }
}

/** Writes a small body together with the head, as a string of one character per byte. */
function endWith(
  response: ServerResponse,
  body: string | Uint8Array | null,
  { endInOneWrite }: NodeInternals,
): void {
  if (body === null) response.end();
  // Write a large body as bytes: for a string, Node would use its encoding for the head too.
  else if (body.length > oneWriteBytes) response.end(asBuffer(body));
  else endInOneWrite(response, asBuffer(body).toString("latin1"));
}

const oneWriteBytes = 16 * 1024;

function asBuffer(body: string | Uint8Array): Buffer {
  return typeof body === "string"
    ? Buffer.from(body)
    : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

/** Returns alternating names and values, so that repeated headers remain separate lines. */
function headerLines({ headers, body }: HttpResponse, sendsLength: boolean): string[] {
  const lines: string[] = [];
  let hasLength = false;
  for (const [name, value] of headers) {
    lines.push(name, value);
    hasLength ||= name === "content-length" || name.toLowerCase() === "content-length";
  }
  const length = bodyLength(body);
  if (sendsLength && !hasLength && length !== undefined) lines.push("content-length", String(length));
  return lines;
}

function bodyLength(body: HttpBody): number | undefined {
  if (body === null) return 0;
  return typeof body === "string" ? Buffer.byteLength(body) : body.length;
}

/** The body has a wrong length. The connection is closed, so that the client notices. */
class LengthMismatch extends Error {
  constructor(declared: number | undefined, produced: number) {
    super(`A response declared a body of ${declared} bytes, but its stream produced ${produced}.`);
  }
}

/**
 * With at most this many streams, each prepares its next chunk while the client receives the last
 * one. With more, the chunks would use too much memory.
 */
const maxPreparingStreams = 8;
/**
 * How long the head of a body of known length waits for the first chunk, so that both are one packet:
 * the chunk is read from a disk and arrives soon. A script's stream may begin at any time.
 */
const headMilliseconds = 5;
/** A body up to this size ends without waiting until the client has received it. */
const smallBody = 64 * 1024;

async function stream(
  body: ByteSource,
  response: ServerResponse,
  { streams, onSent }: Pick<ListenerState, "streams"> & Pick<HttpResponse, "onSent">,
): Promise<void> {
  const chunks = body.chunks()[Symbol.asyncIterator]();
  let isGone = false;
  let sent = 0;
  const declaredBytes = body.length ?? Number.POSITIVE_INFINITY;
  let wake = () => {};
  const onClose = () => {
    isGone = true;
    wake();
    if (response.writableFinished) return;
    body.cancel(new Error("The client disconnected.")).catch(() => {
      // The client has disconnected, so the error cannot be reported.
    });
  };
  // The client may have disconnected before the body was ready.
  if (response.destroyed) onClose();
  else response.once("close", onClose);
  response.on("drain", () => wake());
  const waitForDrain = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
      if (isGone) resolve();
    });
  // Send the head without waiting for a slow first chunk.
  const head = setTimeout(() => response.write(emptyBytes), body.length === undefined ? 0 : headMilliseconds);
  streams.outgoing++;
  let next: Promise<IteratorResult<Uint8Array>> | undefined;
  try {
    while (!isGone) {
      const { done, value } = await (next ?? chunks.next());
      next = undefined;
      clearTimeout(head);
      if (isGone || done === true) break;
      const onWritten = body.release === undefined ? undefined : () => body.release!(value);
      // Bytes beyond the declared length would look like the next response to the client.
      if (sent + value.length > declaredBytes) throw new LengthMismatch(body.length, sent + value.length);
      sent += value.length;
      if (response.write(value, onWritten)) continue;
      if (sent === declaredBytes && sent <= smallBody) continue;
      if (streams.outgoing <= maxPreparingStreams) {
        next = chunks.next();
        // The promise is awaited above, where a failure is thrown.
        next.catch(() => {});
      }
      await waitForDrain();
    }
    if (isGone) return;
    if (body.length !== undefined && sent < body.length) throw new LengthMismatch(body.length, sent);
    response.end();
  } catch (error) {
    isGone = true;
    throw error;
  } finally {
    clearTimeout(head);
    streams.outgoing--;
    onSent?.(sent, !isGone);
  }
}
