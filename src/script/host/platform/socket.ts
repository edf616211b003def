// TCP sockets of "cloudflare:sockets": a readable and a writable web stream over a Node socket.
import type { Buffer } from "node:buffer";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { ReadableStream, WritableStream } from "node:stream/web";
import { connect as connectTls } from "node:tls";
import { toBytes } from "../../../binding/arguments.ts";

export interface SocketOptions {
  /** When the connection uses TLS; `starttls` waits for a call of startTls. Default: off. */
  readonly secureTransport?: "off" | "on" | "starttls";
  readonly allowHalfOpen?: boolean;
}

export interface SocketInfo {
  readonly remoteAddress: string;
  readonly localAddress: string;
}

type Address = string | { readonly hostname: string; readonly port: number };

export function connect(address: Address, options: SocketOptions = {}): ScriptSocket {
  const { host, port } = parseAddress(address);
  const { secureTransport = "off", allowHalfOpen = false } = options;
  const socket =
    secureTransport === "on"
      ? connectTls({ host, port, ...serverName(host) })
      : connectTcp({ host, port, allowHalfOpen });
  return new ScriptSocket(socket, host, secureTransport);
}

/** The TLS server name; omitted for IP addresses, which RFC 6066 does not allow. */
function serverName(host: string): { readonly servername?: string } {
  return isIP(host) === 0 ? { servername: host } : {};
}

function parseAddress(address: Address): { readonly host: string; readonly port: number } {
  const text = typeof address === "string" ? address : `${address?.hostname}:${address?.port}`;
  const [, bracketed, plain, digits] = /^(?:\[(.+)\]|([^/]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host !== undefined && port >= 1 && port <= 65_535) return { host, port };
  throw new TypeError(`connect takes an address like "db.example.com:5432", not ${JSON.stringify(text)}.`);
}

export class ScriptSocket {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<unknown>;
  readonly opened: Promise<SocketInfo>;
  readonly closed: Promise<void>;
  readonly upgraded: boolean;
  readonly secureTransport: "off" | "on" | "starttls";
  readonly #socket: Socket;
  readonly #host: string;
  #release: () => void = () => {};

  constructor(
    socket: Socket,
    host: string,
    secureTransport: "off" | "on" | "starttls",
    upgraded?: "upgraded",
  ) {
    this.#socket = socket;
    this.#host = host;
    this.secureTransport = secureTransport;
    this.upgraded = upgraded !== undefined;
    const ready = secureTransport === "on" ? "secureConnect" : "connect";
    this.opened = new Promise((resolve, reject) => {
      socket.once(ready, () => resolve(toSocketInfo(socket)));
      socket.once("close", () => reject(new Error("The socket was closed before it was open.")));
      socket.once("error", reject);
    });
    this.closed = new Promise((resolve, reject) => {
      this.#release = resolve;
      socket.once("close", () => resolve());
      socket.once("error", reject);
    });
    // Reads and writes report errors to the script, so it need not handle these promises too.
    for (const promise of [this.opened, this.closed]) promise.catch(() => {});
    this.readable = createReadable(socket);
    this.writable = createWritable(socket);
  }

  close(): Promise<void> {
    this.#socket.destroySoon();
    // Discards unread data, which would keep the socket open.
    this.#socket.resume();
    return this.closed;
  }

  /** Upgrades the connection to TLS. Use the returned socket instead of this socket afterwards. */
  startTls({
    expectedServerHostname = this.#host,
  }: {
    readonly expectedServerHostname?: string;
  } = {}): ScriptSocket {
    if (this.secureTransport !== "starttls") {
      throw new TypeError('startTls needs a socket that was opened with secureTransport: "starttls".');
    }
    this.#release();
    this.#socket.removeAllListeners("readable");
    const secured = connectTls({
      socket: this.#socket,
      host: expectedServerHostname,
      ...serverName(expectedServerHostname),
    });
    return new ScriptSocket(secured, expectedServerHostname, "on", "upgraded");
  }
}

function toSocketInfo({ remoteAddress, remotePort, localAddress, localPort }: Socket): SocketInfo {
  return { remoteAddress: `${remoteAddress}:${remotePort}`, localAddress: `${localAddress}:${localPort}` };
}

/** Reads only on demand, so that data after startTls is read by the TLS socket. */
function createReadable(socket: Socket): ReadableStream<Uint8Array> {
  let wake: () => void = () => {};
  let failure: Error | undefined;
  let isFinished = false;
  socket.on("readable", () => wake());
  const finish = (error?: Error) => {
    failure ??= error;
    isFinished = true;
    wake();
  };
  socket.once("end", () => finish());
  socket.once("close", () => finish());
  socket.once("error", finish);
  return new ReadableStream(
    {
      async pull(controller) {
        for (;;) {
          const chunk = socket.read() as Buffer | null;
          if (chunk !== null) return controller.enqueue(new Uint8Array(chunk));
          if (failure !== undefined) throw failure;
          if (isFinished) return controller.close();
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      },
      cancel: () => void socket.destroy(),
    },
    { highWaterMark: 0 },
  );
}

function createWritable(socket: Socket): WritableStream<unknown> {
  return new WritableStream({
    write(chunk) {
      const bytes = toBytes(chunk);
      if (bytes === undefined) throw new TypeError(`A socket takes bytes, not a ${typeof chunk}.`);
      return new Promise((resolve, reject) => {
        socket.write(bytes, (error) => (error ? reject(error) : resolve()));
      });
    },
    close: () => void socket.end(),
    abort: () => void socket.destroy(),
  });
}
