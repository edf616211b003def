// Requests that we make: the head of the answer in time, or not at all. Every step has a time after which the socket is
// destroyed: nothing waits for ever on a service that has fallen silent.
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";

/** The head has come; the body is yet to be read. */
export type Answer = IncomingMessage;

/** The answer breaks off, or is not what was asked for: asked again, it may be. */
export class Broken extends Error {
  override readonly name = "Broken";
}

/** Nothing moved for too long. */
export class Silence extends Error {
  override readonly name = "Silence";
}

export interface Service {
  /** Without the brackets of an IPv6 address. */
  readonly hostname: string;
  readonly port: number;
  readonly tls: boolean;
}

/** In milliseconds. */
export interface HttpClientTimes {
  readonly connect: number;
  /** From the end of the request to the head of its answer. */
  readonly answer: number;
  /** Without a byte of a body, either way. */
  readonly idle: number;
}

export interface OutgoingRequest {
  readonly method: string;
  /** With its query, as it is sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** In parts, so that nobody need lay them together; kept by the caller until the answer has come. */
  readonly parts: readonly Uint8Array[];
  readonly cancellation?: Cancellation | undefined;
}

/** Whether somebody still wants an answer. Lighter than an AbortSignal, which costs as much as a small request. */
export interface Cancellation {
  isCancelled: boolean;
  /** Set by whatever is under way. */
  abort: (() => void) | undefined;
}

export interface HttpClient {
  /** The head of the answer, within the times and before `deadline` (of `performance.now`). */
  send(request: OutgoingRequest, deadline: number): Promise<Answer>;
  /** Lets go of connections that are kept: after a silence, none of them is to be trusted. */
  dropIdleConnections(): void;
  close(): void;
}

export function createHttpClient({ hostname, port, tls }: Service, times: HttpClientTimes): HttpClient {
  const agentOptions = { keepAlive: true, maxFreeSockets: 256 };
  const agent = tls ? new SecureAgent(agentOptions) : new Agent(agentOptions);
  const makeRequest = tls ? secureRequest : httpRequest;

  return {
    send: (request, deadline) =>
      new Promise((resolve, reject) => {
        const { method, target: path, headers, parts, cancellation } = request;
        const message = makeRequest({ hostname, port, agent, method, path, headers: { ...headers } });
        if (cancellation !== undefined)
          cancellation.abort = () => message.destroy(new Broken("nobody wants it any more"));
        let timer: NodeJS.Timeout | undefined;
        /** Something is due within the time given for it; what was due before has come. */
        const expect = (what: string, milliseconds: number) => {
          clearTimeout(timer);
          timer = setTimeout(
            () => message.destroy(new Silence(`${what} within the time for it`)),
            milliseconds,
          );
        };
        const within = (milliseconds: number) =>
          Math.max(1, Math.min(milliseconds, deadline - performance.now()));
        const begin = () => {
          const awaitAnswer = () => expect("no answer came", within(times.answer));
          const onMoved = () => expect("the bytes were not taken", times.idle);
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
          // Whoever reads it listens too; until then a broken connection has nobody to tell.
          response.on("error", () => {});
          // Refused before all of it was taken: the rest is not sent, so the connection cannot serve again.
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

/** Written together, and told of when they are out. */
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
      // A failure is told as the request's own.
      else message.write(part, (error) => error ?? sendSome());
    }
    message.uncork();
  }
  sendSome();
}
