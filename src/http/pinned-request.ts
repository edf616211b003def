// Sends a request to given addresses without resolving a name, so that the address that was checked
// is the one that is used. Streams both bodies and limits every step.
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import type { Duplex } from "node:stream";
import { clearTimeout, setTimeout } from "node:timers";
import { describeFault, PinnedRequestError } from "./pinned-error.ts";
import type { ByteSource } from "./server/listen.ts";

export interface PinnedTarget {
  /** Checked addresses, tried in order until one accepts a connection. */
  readonly addresses: readonly string[];
  readonly port: number;
  /** The host that the certificate must be for; undefined without TLS. */
  readonly tls: { readonly host: string; readonly isAddress: boolean } | undefined;
}

export interface PinnedRequest {
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly path: string;
  /** Alternating names and values, with Host. */
  readonly headers: readonly string[];
  readonly body: (() => AsyncIterable<Uint8Array>) | undefined;
  /** Registers a function that aborts the request. */
  onDisconnect(listener: () => void): void;
}

export interface PinnedResponse {
  readonly status: number;
  readonly statusText: string | undefined;
  readonly rawHeaders: readonly string[];
  /** Must be read to its end or cancelled. */
  readonly body: ByteSource;
  /** The connection after status 101, in which case `body` is empty. */
  readonly socket: Duplex | undefined;
  /** Calls `listener` once, when the exchange is over. */
  onClose(listener: () => void): void;
}

export interface PinnedClient {
  /** Resolves when the head of the response has arrived. Throws PinnedRequestError. */
  send(target: PinnedTarget, request: PinnedRequest): Promise<PinnedResponse>;
}

export interface PinnedClientOptions {
  /** Maximum time until a connection is made, with TLS; default: 10 seconds. */
  readonly connectMilliseconds?: number | undefined;
  /** Maximum time in which no byte is sent or received; default: 2 minutes. */
  readonly idleMilliseconds?: number | undefined;
  /** Maximum size of the headers of a response; default: 32 KiB. */
  readonly headerBytes?: number | undefined;
  /** Certificates of authorities in PEM format; default: those of Node. */
  readonly ca?: string | undefined;
}

const maxAddresses = 3;
/** Shorter than the timeout of nearly all servers, which would close the connection during use. */
const pooledMilliseconds = 4000;
/** Maximum time in which no byte passes on an upgraded connection. */
const upgradedMilliseconds = 600_000;
const repeatableMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

export function createPinnedClient(options: PinnedClientOptions = {}): PinnedClient {
  const { connectMilliseconds = 10_000, idleMilliseconds = 120_000, headerBytes = 32_768, ca } = options;
  const pooling = { keepAlive: true, timeout: pooledMilliseconds, maxFreeSockets: 16 };
  // Pooled connections are keyed by address, port and server name, never by a name alone.
  const agents = { plain: new Agent(pooling), secure: new SecureAgent(pooling) };

  function create(target: PinnedTarget, address: string, request: PinnedRequest, pool: Pool): ClientRequest {
    const { port, tls } = target;
    const { method, path, headers } = request;
    const common = {
      ...{ host: address, port, method, path, headers: [...headers], maxHeaderSize: headerBytes },
      lookup: refuseLookup,
    };
    const outgoing =
      tls === undefined
        ? httpRequest({ ...common, agent: pool === "pooled" && agents.plain })
        : secureRequest({
            ...common,
            agent: pool === "pooled" && agents.secure,
            // RFC 6066 does not allow addresses as server names. The certificate is for `host` then.
            ...(tls.isAddress ? {} : { servername: tls.host }),
            // Explicit, since an environment variable can turn the default off.
            rejectUnauthorized: true,
            ...(ca === undefined ? {} : { ca }),
          });
    outgoing.setTimeout(idleMilliseconds, () => {
      outgoing.destroy(new PinnedRequestError("http_response_timeout", "it did not respond in time"));
    });
    return outgoing;
  }

  async function open(
    target: PinnedTarget,
    request: PinnedRequest,
    { pool, abort }: OpenOptions,
  ): Promise<ClientRequest> {
    const addresses = target.addresses.slice(0, maxAddresses);
    for (const [index, address] of addresses.entries()) {
      abort.check();
      const outgoing = create(target, address, request, pool);
      abort.current = outgoing;
      try {
        await connected(outgoing, target, connectMilliseconds / addresses.length);
        return outgoing;
      } catch (error) {
        const fault = describeFault(error);
        if (index === addresses.length - 1 || !fault.isUnreachable) throw fault;
      }
    }
    throw new PinnedRequestError("destination_unavailable", "it has no address");
  }

  async function exchange(
    target: PinnedTarget,
    request: PinnedRequest,
    how: OpenOptions,
  ): Promise<PinnedResponse> {
    const outgoing = await open(target, request, how);
    const answered = awaitAnswer(outgoing);
    if (request.body === undefined) outgoing.end();
    else sendBody(request.body, outgoing).catch((error: unknown) => outgoing.destroy(error as Error));
    try {
      return await answered;
    } catch (error) {
      const isStale = outgoing.reusedSocket && !how.abort.isAborted;
      throw isStale && isRepeatable(request) ? new StaleConnection() : describeFault(error);
    }
  }

  return {
    async send(target, request) {
      const abort = createAbort(request);
      // A connection that is upgraded does not return to the pool.
      const isUpgrade = request.headers.some((text, i) => i % 2 === 0 && text.toLowerCase() === "upgrade");
      try {
        return await exchange(target, request, { pool: isUpgrade ? "fresh" : "pooled", abort });
      } catch (error) {
        if (!(error instanceof StaleConnection)) throw error;
        return exchange(target, request, { pool: "fresh", abort });
      }
    },
  };
}

type Pool = "pooled" | "fresh";

interface OpenOptions {
  readonly pool: Pool;
  readonly abort: Abort;
}

/** The server closed a pooled connection before it got the request. */
class StaleConnection extends Error {}

interface Abort {
  current: ClientRequest | undefined;
  readonly isAborted: boolean;
  check(): void;
}

function createAbort(request: PinnedRequest): Abort {
  const gone = () => new PinnedRequestError("connection_terminated", "the request was cancelled");
  let isAborted = false;
  const abort: Abort = {
    current: undefined,
    get isAborted() {
      return isAborted;
    },
    check() {
      if (isAborted) throw gone();
    },
  };
  request.onDisconnect(() => {
    isAborted = true;
    abort.current?.destroy(gone());
  });
  return abort;
}

function isRepeatable({ method, body }: PinnedRequest): boolean {
  return body === undefined && repeatableMethods.has(method);
}

function refuseLookup(name: string, _options: unknown, done: (error: Error, address: string) => void): void {
  done(new Error(`"${name}" is not an address.`), "");
}

/** Resolves when the connection, with TLS, is ready for the request. */
function connected(outgoing: ClientRequest, { tls }: PinnedTarget, milliseconds: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      outgoing.destroy(new PinnedRequestError("connection_timeout", "no connection was made in time"));
    }, milliseconds);
    const done = (settle: () => void) => {
      clearTimeout(timer);
      settle();
    };
    outgoing.once("socket", (socket) => {
      if (!socket.connecting) done(resolve);
      else socket.once(tls === undefined ? "connect" : "secureConnect", () => done(resolve));
    });
    // Stays registered: an error without a listener would end the process.
    outgoing.on("error", (error) => done(() => reject(error)));
  });
}

function awaitAnswer(outgoing: ClientRequest): Promise<PinnedResponse> {
  return new Promise((resolve, reject) => {
    outgoing.once("response", (incoming) => {
      // Without a listener, an error before the body is read would be uncaught.
      incoming.on("error", () => {});
      // If the request was not sent completely, the connection cannot be reused.
      incoming.once("end", () => {
        if (!outgoing.writableFinished) outgoing.destroy();
      });
      resolve(toPinnedResponse(incoming, undefined));
    });
    outgoing.once("upgrade", (incoming, socket, first) => {
      socket.on("error", () => {});
      socket.setTimeout(upgradedMilliseconds, () => socket.destroy());
      if (first.length > 0) socket.unshift(first);
      resolve(toPinnedResponse(incoming, socket));
    });
    outgoing.once("error", reject);
    outgoing.once("close", () => {
      reject(new PinnedRequestError("connection_terminated", "it closed the connection"));
    });
  });
}

function toPinnedResponse(incoming: IncomingMessage, socket: Duplex | undefined): PinnedResponse {
  const length = incoming.headers["content-length"];
  return {
    status: incoming.statusCode ?? 0,
    statusText: incoming.statusMessage,
    rawHeaders: incoming.rawHeaders,
    body: {
      length: length === undefined ? undefined : Number(length),
      chunks: () => incoming as AsyncIterable<Uint8Array>,
      async cancel() {
        incoming.destroy();
      },
    },
    socket,
    onClose(listener) {
      const stream = socket ?? incoming;
      if (stream.closed) listener();
      else stream.once("close", listener);
    },
  };
}

/** Waits for the callback of each write: after the response, Node emits no drain events. */
async function sendBody(body: () => AsyncIterable<Uint8Array>, outgoing: ClientRequest): Promise<void> {
  let wake = () => {};
  outgoing.once("close", () => wake());
  for await (const chunk of body()) {
    await new Promise<void>((resolve) => {
      wake = resolve;
      outgoing.write(chunk, () => resolve());
    });
    if (outgoing.destroyed) return;
  }
  outgoing.end();
}
