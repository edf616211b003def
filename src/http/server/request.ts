// Converts Node's message to the request that handlers get, with the client's address.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import { readBody, readBufferedBody } from "./body/request-body.ts";
import { createDirectReader } from "./body/zero-copy-body.ts";
import { plainAddress, resolveSender, type Sender, type TrustedPeers, trustNone } from "./forwarded.ts";
import type { HttpRequest } from "./listen.ts";
import type { ListenerState } from "./listener-state.ts";

export interface RequestContext {
  readonly state: ListenerState;
  readonly trusted: TrustedPeers;
}

export function toHttpRequest(
  message: IncomingMessage,
  response: ServerResponse,
  { state, trusted }: RequestContext,
): HttpRequest {
  let bytesRead = 0;
  const onBytes = (count: number) => {
    bytesRead += count;
  };
  const request: HttpRequest = {
    method: message.method ?? "GET",
    target: message.url ?? "/",
    rawHeaders: message.rawHeaders,
    header: (name) => readHeader(message, name),
    scheme: connectionScheme(message),
    address: () => peerAddress(message),
    hasBody:
      message.headers["content-length"] !== undefined || message.headers["transfer-encoding"] !== undefined,
    body: () => readBody(message, onBytes, state),
    bufferedBody: () => readBufferedBody(message, onBytes),
    directReader: () => createDirectReader(message, onBytes, state),
    bytesRead: () => bytesRead,
    onDisconnect(listener) {
      if (response.destroyed) return listener();
      response.once("close", () => {
        if (!response.writableFinished) listener();
      });
    },
  };
  if (trusted === trustNone) return request;
  return withForwardedSender(request, toPeer(message), trusted);
}

type RequestHead = Pick<HttpRequest, "method" | "target" | "rawHeaders" | "header" | "scheme" | "address">;

/** The head of a request that asks for another protocol. */
export function describeRequest(message: IncomingMessage, trusted: TrustedPeers): RequestHead {
  const head: RequestHead = {
    method: message.method ?? "GET",
    target: message.url ?? "/",
    rawHeaders: message.rawHeaders,
    header: (name) => readHeader(message, name),
    scheme: connectionScheme(message),
    address: () => peerAddress(message),
  };
  return trusted === trustNone ? head : withForwardedSender(head, toPeer(message), trusted);
}

function readHeader({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

function connectionScheme({ socket }: IncomingMessage): "http" | "https" {
  return (socket as TLSSocket).encrypted === true ? "https" : "http";
}

function peerAddress({ socket }: IncomingMessage): string {
  return plainAddress(socket.remoteAddress ?? "");
}

export interface RequestPeer {
  readonly address: string;
  readonly headers: IncomingHttpHeaders;
}

function toPeer(message: IncomingMessage): RequestPeer {
  return { address: peerAddress(message), headers: message.headers };
}

/** Returns the request as sent to the proxy: signatures cover the original Host header. */
export function withForwardedSender<T extends RequestHead>(
  request: T,
  { address: peerAddress, headers }: RequestPeer,
  trusted: TrustedPeers,
): T {
  const peer: Sender = { address: peerAddress, scheme: request.scheme, host: undefined };
  const { address, scheme, host } = resolveSender(peer, headers, trusted);
  const resolved = { ...request, scheme, address: () => address };
  if (host === undefined) return resolved;
  const isHost = (name: string) => name.toLowerCase() === "host";
  const rawHeaders = request.rawHeaders.map((text, i, all) =>
    i % 2 === 1 && isHost(all[i - 1]!) ? host : text,
  );
  // The Host header is optional in HTTP/1.0.
  if (headers.host === undefined) rawHeaders.push("host", host);
  return {
    ...resolved,
    rawHeaders,
    header: (name: string) => (name === "host" ? host : request.header(name)),
  };
}
