// Performs TLS handshakes on accepted sockets. A new certificate applies to new connections.
import { Buffer } from "node:buffer";
import { constants } from "node:crypto";
import type { Socket } from "node:net";
import { clearTimeout, setTimeout } from "node:timers";
import { createSecureContext, type SecureContext, TLSSocket } from "node:tls";

export interface TlsPair {
  /** The certificate and its chain, as PEM. */
  readonly certificate: string;
  readonly key: string;
  /** 48 bytes in base64, shared by all processes, so that any process can resume a session. */
  readonly ticketKeys: string;
}

/** The certificate and key in use. */
export interface TlsSource {
  current(): TlsPair;
  /** Calls `listener` with each new pair; returns a function that unsubscribes. */
  onChange(listener: (pair: TlsPair) => void): () => void;
}

export interface MutableTlsSource extends TlsSource {
  change(pair: TlsPair): void;
}

export function createTlsSource(first: TlsPair): MutableTlsSource {
  const listeners = new Set<(pair: TlsPair) => void>();
  let pair = first;
  return {
    current: () => pair,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    change(next) {
      pair = next;
      for (const listener of listeners) listener(next);
    },
  };
}

/** Throws OpenSSL's error when the pair cannot be used. */
export function secureContext({ certificate, key, ticketKeys }: TlsPair): SecureContext {
  return createSecureContext({
    cert: certificate,
    key,
    ticketKeys: Buffer.from(ticketKeys, "base64"),
    minVersion: "TLSv1.2",
    // A client could make the server repeat the costly part of a handshake.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  });
}

export interface Handshakes {
  /** Calls `onSecured` after the handshake; disconnects a client that fails or is too slow. */
  start(socket: Socket, onSecured: (secured: TLSSocket) => void): void;
  /** Ignores later changes of the certificate. */
  end(): void;
}

/** The ALPN protocol list: a length byte and the name. */
const protocols = Buffer.from("\x08http/1.1");
/** The first byte of a TLS handshake record. */
const handshakeByte = 22;

export interface HandshakeOptions {
  /** Time limit of a whole handshake: a client that sends a byte now and then is not waited for. */
  readonly silenceMilliseconds: number;
  /** Events by which Node reports a failed handshake. */
  readonly errorEvents: readonly string[];
}

export function createHandshakes(
  source: TlsSource,
  { silenceMilliseconds, errorEvents }: HandshakeOptions,
): Handshakes {
  let context = secureContext(source.current());
  const unsubscribe = source.onChange((pair) => {
    context = secureContext(pair);
  });

  function secure(socket: Socket, deadline: NodeJS.Timeout, onSecured: (secured: TLSSocket) => void): void {
    const secured = new TLSSocket(socket, {
      ...{ isServer: true, secureContext: context, ALPNProtocols: protocols as unknown as string[] },
    });
    secured.once("secure", () => {
      clearTimeout(deadline);
      onSecured(secured);
    });
    for (const event of errorEvents) secured.on(event, () => secured.destroy());
  }

  return {
    start(socket, onSecured) {
      socket.on("error", () => socket.destroy());
      const deadline = setTimeout(() => socket.destroy(), silenceMilliseconds);
      socket.once("close", () => clearTimeout(deadline));
      socket.once("data", (first: Buffer) => {
        if (first[0] !== handshakeByte) return refusePlainHttp(socket);
        socket.pause();
        socket.unshift(first);
        secure(socket, deadline, onSecured);
      });
      // Accepted sockets are paused: start reading.
      socket.resume();
    },
    end: unsubscribe,
  };
}

/** Responds to a client that uses plain HTTP on a TLS port. */
function refusePlainHttp(socket: Socket): void {
  const body = "This port speaks HTTPS: use https:// instead of http://.\n";
  socket.end(
    "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n" +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  // Discard the rest of the request, so that the connection can close.
  socket.resume();
}
