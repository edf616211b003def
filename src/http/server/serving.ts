// Passes a request from Node to the handler and writes the response: in order on its connection,
// within the limits of the port. Sends 100-continue when the handler reads the body.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { probeHeader } from "../probe.ts";
import { trustAll, trustNone } from "./forwarded.ts";
import { setLastResponse } from "./last-response.ts";
import { defaultPortLimits, maxHeaderLines } from "./limits.ts";
import { isLingering } from "./linger.ts";
import type { HttpHandler, HttpRequest, ListenOptions } from "./listen.ts";
import type { ListenerState } from "./listener-state.ts";
import { createPipelining } from "./pipelining.ts";
import { headFault, refuse } from "./refusal.ts";
import { toHttpRequest } from "./request.ts";
import { writeAnswer } from "./response.ts";

export type Expectation = "nothing" | "100-continue";

export interface Serving {
  serve(message: IncomingMessage, response: ServerResponse, expects: Expectation): void;
  /** Counts a request that is served elsewhere, until `onDone`. Returns false if it must not start. */
  tryBegin(): boolean;
  onDone(): void;
  /** Starts a pipelined request, in a later turn of the event loop if there are many. */
  takeTurn(start: () => void): void;
  /** Closes the connection after every later response. */
  drain(): void;
  isDraining(): boolean;
}

export interface ServingOptions extends Pick<ListenOptions, "limits" | "probe" | "refusal" | "trusted"> {
  /** Whether requests come from the server's own supervisor, over a private socket. */
  readonly isInternal: boolean;
  readonly state: ListenerState;
}

export function createServing(handler: HttpHandler, options: ServingOptions): Serving {
  const { limits, probe, refusal, isInternal, state } = options;
  const requestContext = { state, trusted: isInternal ? trustAll : (options.trusted ?? trustNone) };
  const maxRequests = limits?.requests ?? Number.POSITIVE_INFINITY;
  const pipelining = createPipelining((limits ?? defaultPortLimits).pipelined, state.internals);
  let isDraining = false;
  let inFlight = 0;

  const onDone = () => {
    inFlight--;
  };

  function serveNow(message: IncomingMessage, response: ServerResponse, expects: Expectation): void {
    setLastResponse(message.socket, response);
    if (response.destroyed) return;
    if (isDraining) response.setHeader("connection", "close");
    if (probe !== undefined && message.headers[probeHeader] === probe) {
      response.writeHead(204).end();
      return;
    }
    const fault = headFault(message, maxHeaderLines) ?? (inFlight >= maxRequests ? 503 : undefined);
    if (fault !== undefined) {
      refuse(response, fault, refusal);
      return;
    }
    // Status 102 informs the supervisor that it must not send the request to another process.
    if (isInternal) response.writeProcessing();
    inFlight++;
    const request = toHttpRequest(message, response, requestContext);
    void answer(handler, request, { response, expects, state, onDone });
  }

  return {
    serve(message, response, expects) {
      // A request after the last one of its connection is not served.
      if (isLingering(message.socket)) return;
      if (message.socket.isPaused()) detachParser(message.socket);
      // Node assigns the socket when the previous response is complete.
      if (response.socket !== null) serveNow(message, response, expects);
      else pipelining.enqueue(response, message.socket, () => serveNow(message, response, expects));
    },
    tryBegin() {
      if (isDraining || inFlight >= maxRequests) return false;
      inFlight++;
      return true;
    },
    onDone,
    takeTurn: pipelining.takeTurn,
    drain() {
      isDraining = true;
    },
    isDraining: () => isDraining,
  };
}

/**
 * Node pauses the connection and its parser if an earlier response has not left yet. The parser of a
 * TLS connection still gets the records that were decrypted with the request, and fails. With a
 * listener for its bytes, Node keeps them in the stream until it resumes.
 */
function detachParser(socket: Socket): void {
  const isSecure = (socket as Partial<TLSSocket>).encrypted === true;
  if (isSecure && !socket.listeners("data").includes(ignore)) socket.on("data", ignore);
}

function ignore(): void {}

interface NodeExchange {
  readonly response: ServerResponse;
  readonly expects: Expectation;
  readonly state: ListenerState;
  /** Called once, when the response is written or has failed. */
  readonly onDone: () => void;
}

async function answer(
  handler: HttpHandler,
  request: HttpRequest,
  { response, expects, state, onDone }: NodeExchange,
): Promise<void> {
  try {
    if (expects === "nothing") return await writeAnswer(await handler(request), response, state);
    let isContinued = false;
    const sendContinue = () => {
      if (!isContinued && !response.headersSent) response.writeContinue();
      isContinued = true;
    };
    const body = () => {
      sendContinue();
      return request.body();
    };
    const directReader = () => {
      sendContinue();
      return request.directReader!();
    };
    const answered = await handler({ ...request, body, directReader, bufferedBody: () => undefined });
    // Close the connection: the client may still send the body that was not requested.
    if (!isContinued) response.setHeader("connection", "close");
    await writeAnswer(answered, response, state);
  } catch (error) {
    // Handlers handle their own errors: here, writing the response failed.
    response.destroy(error instanceof Error ? error : undefined);
  } finally {
    onDone();
  }
}
