// Serves short requests of a listener without Node's HTTP server: it is a large part of the cost of a
// request that needs little else. All other requests go to Node's HTTP server.
import { Buffer } from "node:buffer";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { probeHeader } from "../probe.ts";
import { type AfterResponse, readShortRequests, type ShortRequest } from "../wire/read-short-requests.ts";
import { type Framing, formatResponseHead } from "../wire/response-text.ts";
import { type BodyTarget, sendBody } from "./body/send-body.ts";
import { plainAddress, type TrustedPeers, trustNone } from "./forwarded.ts";
import { maxHeaderLines } from "./limits.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "./listen.ts";
import type { ListenerState } from "./listener-state.ts";
import { withForwardedSender } from "./request.ts";
import type { Serving } from "./serving.ts";

export interface ShortRequestOptions {
  readonly server: Server;
  readonly serving: Serving;
  readonly trusted: TrustedPeers;
  readonly state: ListenerState;
  readonly headerBytes: number;
  readonly idleMilliseconds: number;
  readonly stallMilliseconds: number;
  /** Clients on a port get the headers Date, Connection and Keep-Alive; a runtime needs none. */
  readonly clients: "on a port" | "on a socket";
  /** Whether a handler starts only when a short body has arrived completely. */
  readonly waitsForBody: boolean;
}

/** Returns a function that serves a new connection. */
export function createShortRequests(
  handler: HttpHandler,
  options: ShortRequestOptions,
): (socket: Socket) => void {
  const { server, serving, state, headerBytes, idleMilliseconds, stallMilliseconds } = options;
  const { streams, internals } = state;
  const keepAliveSeconds = options.clients === "on a port" ? Math.floor(idleMilliseconds / 1000) : undefined;

  async function serve(short: ShortRequest): Promise<AfterResponse> {
    const request = toRequest(short, options.trusted);
    try {
      return await write(await handler(request), short);
    } finally {
      serving.onDone();
    }
  }

  async function write(answer: HttpResponse, { socket, head }: ShortRequest): Promise<AfterResponse> {
    const { status, statusText, headers, body, onSent } = answer;
    const isWhole = body === null || typeof body === "string" || body instanceof Uint8Array;
    const bytes = isWhole ? toBuffer(body) : undefined;
    const mayHaveBody = status !== 204 && status !== 304;
    const { text, framing, closes } = formatResponseHead({
      status,
      statusText,
      headers,
      keepAliveSeconds,
      closes: head.closes || serving.isDraining(),
      length: isWhole ? bytes!.length : body.length,
      isBodyAllowed: mayHaveBody && !(head.method === "HEAD" && body === null),
    });
    const sendsBody = mayHaveBody && head.method !== "HEAD";
    if (!isWhole && sendsBody) {
      await sendBody(body, toTarget(socket, text, framing), { streams, onSent });
    } else {
      const isFlushed = writeWhole(socket, text, sendsBody ? bytes! : noBytes);
      onSent?.(sendsBody ? (bytes?.length ?? 0) : 0, !socket.destroyed);
      if (!isWhole) await body.cancel(undefined);
      if (!isFlushed) await waitForDrain(socket);
    }
    return closes || serving.isDraining() ? "close" : "keep";
  }

  return (socket) =>
    readShortRequests(socket, {
      ...{ maxHeadBytes: headerBytes, idleMilliseconds, stallMilliseconds, serve },
      waitsForBody: options.waitsForBody,
      accepts: ({ rawHeaders, byName }) =>
        rawHeaders.length <= 2 * maxHeaderLines && !byName.has(probeHeader),
      tryBegin: serving.tryBegin,
      takeTurn: serving.takeTurn,
      shareReads: internals.shareReads,
      handOver(handedOver, first) {
        handedOver.pause();
        handedOver.unshift(first);
        server.emit("connection", handedOver);
        handedOver.resume();
      },
    });
}

function toRequest({ socket, head, body, onDisconnect }: ShortRequest, trusted: TrustedPeers): HttpRequest {
  const { method, target, rawHeaders, byName, contentLength } = head;
  let bytesRead = 0;
  const request: HttpRequest = {
    method,
    target,
    rawHeaders,
    onDisconnect,
    header: (name) => byName.get(name),
    scheme: (socket as TLSSocket).encrypted === true ? "https" : "http",
    address: () => plainAddress(socket.remoteAddress ?? ""),
    hasBody: contentLength !== undefined,
    async *body() {
      bytesRead = body.length;
      if (body.length > 0) yield body;
    },
    bufferedBody() {
      bytesRead = body.length;
      return body;
    },
    bytesRead: () => bytesRead,
  };
  if (trusted === trustNone) return request;
  return withForwardedSender(
    request,
    { address: request.address(), headers: Object.fromEntries(byName) },
    trusted,
  );
}

const noBytes = Buffer.alloc(0);
/** Up to this size, copying a body into one string with the head is faster than a second buffer. */
const oneWriteBytes = 16 * 1024;

function toBuffer(body: string | Uint8Array | null): Buffer {
  if (body === null) return noBytes;
  return typeof body === "string"
    ? Buffer.from(body)
    : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

/** Returns whether the system has taken all bytes. */
function writeWhole(socket: Socket, head: string, body: Buffer): boolean {
  if (socket.destroyed) return true;
  if (body.length <= oneWriteBytes) return socket.write(head + body.toString("latin1"), "latin1");
  socket.cork();
  socket.write(head, "latin1");
  const isFlushed = socket.write(body);
  socket.uncork();
  return isFlushed;
}

function waitForDrain(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed || socket.writableLength === 0) return resolve();
    const done = () => {
      socket.off("drain", done).off("close", done);
      resolve();
    };
    socket.on("drain", done).on("close", done);
  });
}

/** `head` is sent with the first chunk. */
function toTarget(socket: Socket, head: string, framing: Framing): BodyTarget {
  let pendingHead: string | undefined = head;
  const sendHead = () => {
    if (pendingHead !== undefined) socket.write(pendingHead, "latin1");
    pendingHead = undefined;
  };
  return {
    output: socket,
    sendHead,
    write(chunk, onWritten) {
      socket.cork();
      sendHead();
      const isFlushed = writeChunk(socket, chunk, { framing, onWritten });
      socket.uncork();
      return isFlushed;
    },
    // The next request of the connection is read when the body has left: else its client could fill
    // the memory with responses that it does not receive.
    endsSmallBodies: false,
    end() {
      sendHead();
      if (framing === "chunked") socket.write("0\r\n\r\n", "latin1");
    },
  };
}

function writeChunk(
  socket: Socket,
  chunk: Uint8Array,
  { framing, onWritten }: { readonly framing: Framing; readonly onWritten: (() => void) | undefined },
): boolean {
  if (framing === "length") return socket.write(chunk, onWritten);
  // An empty chunk would end the body.
  if (chunk.length === 0) return true;
  socket.write(`${chunk.length.toString(16)}\r\n`, "latin1");
  socket.write(chunk, onWritten);
  return socket.write("\r\n", "latin1");
}
