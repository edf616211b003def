// TLS on connections that came as bare sockets, be it from another process: whoever serves them shakes hands. The
// certificate may change at any time; connections keep the one they began with.
import type { Socket } from "node:net";
import { createSecureContext, type SecureContext, TLSSocket } from "node:tls";

export interface TlsPair {
  /** With its chain, as PEM. */
  readonly certificate: string;
  readonly key: string;
  /** 48 bytes in base64, the same in all processes: a client may come back to any of them. */
  readonly ticketKeys: string;
}

/** The pair in use. */
export interface TlsSource {
  current(): TlsPair;
  /** Calls with each new one; gives what takes the listener back. */
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

/** Throws in OpenSSL's words when the pair is none. */
export function secureContext({ certificate, key, ticketKeys }: TlsPair): SecureContext {
  return createSecureContext({
    cert: certificate,
    key,
    ticketKeys: Buffer.from(ticketKeys, "base64"),
    minVersion: "TLSv1.2",
  });
}

export interface Handshakes {
  /** Calls once the client has shaken hands; one that cannot, or takes too long, is cut. */
  start(socket: Socket, onSecured: (secured: TLSSocket) => void): void;
  /** Takes in no more changes. */
  end(): void;
}

/** What a protocol that TLS agrees on is called on the wire: a byte of length, and its name. */
const protocols = Buffer.from("\x08http/1.1");
/** The first byte of every client that begins with TLS. */
const handshakeByte = 22;

export function createHandshakes(source: TlsSource, silenceMilliseconds: number): Handshakes {
  let context = secureContext(source.current());
  const unsubscribe = source.onChange((pair) => {
    context = secureContext(pair);
  });

  function secure(socket: Socket, onSecured: (secured: TLSSocket) => void): void {
    const secured = new TLSSocket(socket, {
      ...{ isServer: true, secureContext: context, ALPNProtocols: protocols as unknown as string[] },
    });
    secured.once("secure", () => {
      socket.setTimeout(0);
      onSecured(secured);
    });
    // Also what Node calls an error of TLS before the handshake is done, and tells in no other way.
    for (const event of ["error", "_tlsError"]) secured.on(event, () => secured.destroy());
  }

  return {
    start(socket, onSecured) {
      socket.on("error", () => socket.destroy());
      // One that says nothing, or never comes to the end of its greeting.
      socket.setTimeout(silenceMilliseconds, () => socket.destroy());
      socket.once("data", (first: Buffer) => {
        if (first[0] !== handshakeByte) return refusePlainHttp(socket);
        socket.pause();
        socket.unshift(first);
        secure(socket, onSecured);
      });
      // It was paused for whoever would serve it.
      socket.resume();
    },
    end: unsubscribe,
  };
}

/** To a client that speaks plain HTTP, in plain HTTP. */
function refusePlainHttp(socket: Socket): void {
  const body = "This port speaks HTTPS: ask with https:// in place of http://.\n";
  socket.end(
    "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n" +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  // What else it sends is passed over, and the connection does not wait for its end.
  socket.resume();
}
