// Writes a response: a small body in one write with the head, a large body with backpressure.
import { Buffer } from "node:buffer";
import type { ServerResponse } from "node:http";
import { type BodyTarget, sendBody } from "./body/send-body.ts";
import { lingerAfter } from "./linger.ts";
import type { HttpBody, HttpResponse } from "./listen.ts";
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
  lingerAfter(response);
  const sendsBody = mayHaveBody && message.method !== "HEAD";
  if (body === null || typeof body === "string" || body instanceof Uint8Array) {
    endWith(response, sendsBody ? body : null, state.internals);
    onSent?.(sendsBody ? (bodyLength(body) ?? 0) : 0, !response.destroyed);
  } else if (sendsBody) {
    await sendBody(body, toTarget(response), { streams: state.streams, onSent });
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

function toTarget(response: ServerResponse): BodyTarget {
  return {
    output: response,
    sendHead: () => response.write(emptyBytes),
    write: (chunk, onWritten) => response.write(chunk, onWritten),
    endsSmallBodies: true,
    end: () => response.end(),
  };
}
