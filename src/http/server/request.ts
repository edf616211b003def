// A request as handlers are given it: plain data made of Node's message, with what is known of its sender.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import { nobody, plainAddress, type Sender, senderOf, type TrustedPeers } from "./forwarded.ts";
import type { HttpRequest } from "./listen.ts";
import { arrivedBytes, bytesOf } from "./request-body.ts";
import { createFiller } from "./zero-copy-body.ts";

export function requestOf(
  message: IncomingMessage,
  response: ServerResponse,
  trusted: TrustedPeers,
): HttpRequest {
  let bytesRead = 0;
  const onBytes = (count: number) => {
    bytesRead += count;
  };
  const request: HttpRequest = {
    method: message.method ?? "GET",
    target: message.url ?? "/",
    rawHeaders: message.rawHeaders,
    header(name) {
      const value = message.headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
    scheme: (message.socket as TLSSocket).encrypted === true ? "https" : "http",
    address: () => peerOf(message),
    hasBody:
      message.headers["content-length"] !== undefined || message.headers["transfer-encoding"] !== undefined,
    body: () => bytesOf(message, onBytes),
    arrived: () => arrivedBytes(message, onBytes),
    filler: () => createFiller(message, onBytes),
    bytesRead: () => bytesRead,
    onDisconnect(listener) {
      if (response.destroyed) return listener();
      response.once("close", () => {
        if (!response.writableFinished) listener();
      });
    },
  };
  return trusted === nobody ? request : forwarded(request, message, trusted);
}

function peerOf({ socket }: IncomingMessage): string {
  return plainAddress(socket.remoteAddress ?? "");
}

/** As the client sent it to the proxy: its Host is what it has signed. */
function forwarded(request: HttpRequest, message: IncomingMessage, trusted: TrustedPeers): HttpRequest {
  const peer: Sender = { address: peerOf(message), scheme: request.scheme, host: undefined };
  const { address, scheme, host } = senderOf(peer, message.headers, trusted);
  const told = { ...request, scheme, address: () => address };
  if (host === undefined) return told;
  const isHost = (name: string) => name.toLowerCase() === "host";
  const rawHeaders = request.rawHeaders.map((text, i, all) =>
    i % 2 === 1 && isHost(all[i - 1]!) ? host : text,
  );
  // HTTP/1.0 may leave it out.
  if (message.headers.host === undefined) rawHeaders.push("host", host);
  return { ...told, rawHeaders, header: (name) => (name === "host" ? host : request.header(name)) };
}
