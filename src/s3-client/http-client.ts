// An HTTP client with a timeout for every step: connect, send, response head and idle body. A
// timeout destroys the socket, so that no request waits forever for an unresponsive service.
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { performance } from "node:perf_hooks";
import { clearTimeout, setTimeout } from "node:timers";

/** A response whose head has arrived and whose body is not read yet. */
export type Answer = IncomingMessage;

/** The response was cut off or is invalid; a retry may succeed. */
export class Broken extends Error {
  override readonly name = "Broken";
}

/** The service did not respond in time. */
export class Silence extends Error {
  override readonly name = "Silence";
}

export interface Service {
  /** Host name or address, without the brackets of an IPv6 address. */
  readonly hostname: string;
  readonly port: number;
  readonly tls: boolean;
}

/** Timeouts in milliseconds. */
export interface HttpClientTimes {
  readonly connect: number;
  /** From the end of the request to the head of its response. */
  readonly answer: number;
  /** Maximum time in which no byte of the body is sent or received. */
  readonly idle: number;
}

export interface OutgoingRequest {
  readonly method: string;
  /** Percent-encoded path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Parts of the body. The caller must not change them until the response has arrived. */
  readonly parts: readonly Uint8Array[];
  readonly cancellation?: Cancellation | undefined;
}

/** Cancels a request. Not an AbortSignal, which costs as much as a small request. */
export interface Cancellation {
  isCancelled: boolean;
  /** Aborts the request in flight. The request sets this function. */
  abort: (() => void) | undefined;
}

export interface HttpClientOptions {
  /** Age from which a connection is not used again; default: a minute. */
  readonly maxConnectionMilliseconds?: number;
}

export interface HttpClient {
  /** Returns the response head. `deadline` is a time on the clock of `performance.now`. */
  send(request: OutgoingRequest, deadline: number): Promise<Answer>;
  /** Closes idle connections. After a timeout, they may be broken too. */
  dropIdleConnections(): void;
  close(): void;
}

/** A connection that is used for longer is replaced, so that a server that returns gets work. */
export const defaultConnectionMilliseconds = 60_000;

export function createHttpClient(
  { hostname, port, tls }: Service,
  times: HttpClientTimes,
  { maxConnectionMilliseconds = defaultConnectionMilliseconds }: HttpClientOptions = {},
): HttpClient {
  const agentOptions = { keepAlive: true, maxFreeSockets: 256 };
  const agent = tls ? new SecureAgent(agentOptions) : new Agent(agentOptions);
  limitAge(agent, maxConnectionMilliseconds);
  const makeRequest = tls ? secureRequest : httpRequest;

  return {
    send: (request, deadline) =>
      new Promise((resolve, reject) => {
        const { method, target: path, headers, parts, cancellation } = request;
        const message = makeRequest({ hostname, port, agent, method, path, headers: { ...headers } });
        if (cancellation !== undefined)
          cancellation.abort = () => message.destroy(new Broken("the request was cancelled"));
        let timer: NodeJS.Timeout | undefined;
        /** Restarts the timeout for the next step. */
        const expect = (failure: string, milliseconds: number) => {
          clearTimeout(timer);
          timer = setTimeout(() => message.destroy(new Silence(`${failure} in time`)), milliseconds);
        };
        const within = (milliseconds: number) =>
          Math.max(1, Math.min(milliseconds, deadline - performance.now()));
        const begin = () => {
          const awaitAnswer = () => expect("no response arrived", within(times.answer));
          const onMoved = () => expect("the service did not read the request", times.idle);
          sendParts(message, parts, { onMoved, onSent: awaitAnswer });
        };
        message.once("socket", (socket) => {
          if (!socket.connecting) {
            begin();
            return;
          }
          expect("no connection was made", within(times.connect));
          socket.once(tls ? "secureConnect" : "connect", begin);
        });
        message.once("response", (response) => {
          clearTimeout(timer);
          if (cancellation !== undefined) cancellation.abort = undefined;
          // Without a listener, an error before the body is read would be uncaught.
          response.on("error", () => {});
          // If the request was not sent completely, the connection cannot be reused.
          response.once("end", () => {
            if (!message.writableFinished) message.destroy();
          });
          resolve(response);
        });
        message.on("error", (error) => {
          clearTimeout(timer);
          reject(error);
        });
      }),
    dropIdleConnections() {
      for (const sockets of Object.values(agent.freeSockets))
        for (const socket of sockets ?? []) socket.destroy();
    },
    close: () => agent.destroy(),
  };
}

type Connection = Parameters<Agent["keepSocketAlive"]>[0];

/**
 * A service of several servers behind one name: without a limit, kept connections would stay on the
 * servers that survived a failure, and those that returned would get no work.
 */
function limitAge(agent: Agent, maxMilliseconds: number): void {
  const ends = new WeakMap<Connection, number>();
  const keepSocketAlive = agent.keepSocketAlive.bind(agent) as (socket: Connection) => boolean;
  // Node destroys the socket if this returns false, although its types declare no result.
  const keepYoung = (socket: Connection): boolean => {
    const now = performance.now();
    // Connections of one moment, as after a failure, must not all end at one moment.
    const end = ends.get(socket) ?? now + maxMilliseconds * (0.75 + Math.random() / 4);
    ends.set(socket, end);
    return now < end && keepSocketAlive(socket);
  };
  agent.keepSocketAlive = keepYoung;
}

/** Number of parts to write before waiting for the writes to complete. */
const partsPerWrite = 4;

function sendParts(
  message: ClientRequest,
  parts: readonly Uint8Array[],
  { onMoved, onSent }: { readonly onMoved: () => void; readonly onSent: () => void },
): void {
  let next = 0;
  function sendSome(): void {
    onMoved();
    const some = parts.slice(next, next + partsPerWrite);
    next += some.length;
    if (some.length === 0) {
      message.end(onSent);
      return;
    }
    message.cork();
    for (const [index, part] of some.entries()) {
      if (index < some.length - 1) message.write(part);
      // The request's "error" event reports a failed write.
      else message.write(part, (error) => error ?? sendSome());
    }
    message.uncork();
  }
  sendSome();
}
