// Runs a script's handlers: converts HTTP requests to Request objects, and Response objects to HTTP
// responses. An error of the script causes a 500 and a log line; the process keeps running.
import console from "node:console";
import { ReadableStream } from "node:stream/web";
import { describe, toBytes } from "../../binding/arguments.ts";
import { declaredLength, declareLength } from "../../binding/fixed-length-stream.ts";
import { withSenderHeaders } from "../../http/server/forwarded.ts";
import type { ByteSource, HttpHandler, HttpRequest, HttpResponse } from "../../http/server/listen.ts";
import type { StoreNotification } from "../../script-types.ts";
import type { Mode, ScriptContext } from "../context.ts";
import { createRequest } from "../globals/fetch/request.ts";
import { describeResponse, ScriptResponse } from "../globals/fetch/response.ts";
import type { Environment } from "./environment.ts";
import { addRequestId, beginExchange, type ExchangeState, type HostObserver } from "./exchange.ts";
import { hasValidHost } from "./host-header.ts";
import type { NotificationMessage, NotificationResult } from "./messages.ts";
import { handleAll } from "./notifications.ts";
import type { PendingWork } from "./pending-work.ts";
import { missingBindingHint } from "./platform/missing-binding.ts";
import { sentHeaders } from "./response-headers.ts";
import { createDisconnection, logError, withoutFrames } from "./script-error.ts";

export interface ScheduledEvent {
  readonly type: "scheduled";
  readonly cron: string;
  readonly scheduledTime: number;
  noRetry(): void;
}

/** The default export of a script. */
export interface ScriptHandlers {
  fetch?(request: Request, env: Environment, context: ScriptContext): Response | Promise<Response>;
  scheduled?(event: ScheduledEvent, env: Environment, context: ScriptContext): unknown;
  notification?(event: StoreNotification, env: Environment, context: ScriptContext): unknown;
}

export interface Host {
  readonly handle: HttpHandler;
  scheduled(cron: string, time: number): Promise<void>;
  /** Runs the handler for each event. Events of one key run in order, until one fails. */
  notification(events: readonly NotificationMessage[]): Promise<NotificationResult>;
  /** Resolves when all promises passed to waitUntil have settled. */
  settle(): Promise<void>;
}

export interface HostOptions {
  readonly handlers: ScriptHandlers;
  readonly env: Environment;
  readonly mode: Mode;
  readonly pending: PendingWork;
  readonly observer?: HostObserver | undefined;
}

export function createHost({ handlers, env, mode, pending, observer }: HostOptions): Host {
  const { waitFor, createContext } = pending;

  const handle: HttpHandler = async (request) => {
    const exchange = beginExchange(request, observer);
    if (!hasValidHost(request)) return errorResponse(400, badHost, exchange, "BadHost");
    try {
      if (handlers.fetch === undefined)
        throw withoutFrames(new TypeError("The script's default export has no fetch handler."));
      const response = await handlers.fetch(toRequest(request), env, createContext());
      if (!(response instanceof ScriptResponse)) {
        throw withoutFrames(
          new TypeError(`The script's fetch handler must return a Response, not ${typeof response}.`),
        );
      }
      return toHttpResponse(response, request.method, exchange);
    } catch (error) {
      logError(error);
      const hint = mode === "dev" ? missingBindingHint(error, env) : undefined;
      if (hint !== undefined) console.error(hint);
      return errorResponse(500, faultText(error, mode, hint), exchange, "Exception");
    }
  };

  return {
    handle,
    async scheduled(cron, time) {
      if (handlers.scheduled === undefined) {
        throw new TypeError("The script's default export has no scheduled handler.");
      }
      // noRetry has no effect: Store never retries a scheduled run.
      const event: ScheduledEvent = { type: "scheduled", cron, scheduledTime: time, noRetry() {} };
      const run = handlers.scheduled(event, env, createContext());
      // The caller receives the error of the run, so it is ignored here.
      waitFor(Promise.resolve(run).catch(() => {}));
      await Promise.resolve(run).then(
        () => observer?.onRun("scheduled", "done"),
        (error: unknown) => {
          observer?.onRun("scheduled", "failed");
          throw error;
        },
      );
    },
    async notification(events) {
      const handling = handleAll(handlers, env, createContext(), events);
      waitFor(handling);
      const { handled, error } = await handling;
      for (const _ of handled) observer?.onRun("notification", "done");
      if (error !== undefined) observer?.onRun("notification", "failed");
      return { handled, error };
    },
    settle: pending.settle,
  };
}

const badHost = "Bad Request: the request names no valid host.\n";

/** Creates a response of the server, sent instead of the script's response. */
function errorResponse(
  status: number,
  body: string,
  exchange: ExchangeState | undefined,
  errorCode: "BadHost" | "Exception",
): HttpResponse {
  const headers: [string, string][] = [["content-type", "text/plain; charset=utf-8"]];
  if (exchange !== undefined) {
    exchange.status = status;
    exchange.errorCode = errorCode;
    addRequestId(headers, exchange.id);
  }
  return { status, headers, body, onSent: exchange?.onSent };
}

function toRequest(request: HttpRequest): Request {
  const { method, target, scheme } = request;
  const isAbsolute = /^https?:\/\//i.test(target);
  // `OPTIONS *` addresses the whole server; the script sees it as the root path.
  const path = target.startsWith("/") ? target : "/";
  const url = isAbsolute ? target : `${scheme}://${request.header("host") ?? "localhost"}${path}`;
  const body = request.hasBody ? () => bodyStream(request) : undefined;
  const rawHeaders = () => withSenderHeaders(request);
  return createRequest({ method, url, rawHeaders, body, onDisconnect: request.onDisconnect });
}

function bodyStream(request: HttpRequest): ReadableStream<Uint8Array> {
  const chunks = request.body()[Symbol.asyncIterator]();
  const stream: ReadableStream<Uint8Array> = new ReadableStream({
    type: "bytes",
    async pull(controller) {
      const { done, value } = await chunks.next().catch((error: unknown) => {
        throw createDisconnection(error);
      });
      if (done === true) {
        controller.close();
        controller.byobRequest?.respond(0);
      } else {
        // Copied: the stream takes ownership of the buffer, which other chunks may share.
        controller.enqueue(new Uint8Array(value));
      }
    },
    async cancel() {
      await chunks.return?.();
    },
  });
  const length = Number(request.header("content-length"));
  if (Number.isSafeInteger(length) && request.header("transfer-encoding") === undefined)
    declareLength(stream, length);
  return stream;
}

function toHttpResponse(
  response: Response,
  method: string,
  exchange: ExchangeState | undefined,
): HttpResponse {
  const { status, statusText, headers, body } = describeResponse(response);
  const headerList = sentHeaders(headers, { method, status, hasBody: body !== null });
  if (exchange !== undefined) {
    exchange.status = status;
    addRequestId(headerList, exchange.id);
  }
  return {
    status,
    statusText,
    headers: headerList,
    body: body instanceof ReadableStream ? toByteSource(body) : body,
    onSent: exchange?.onSent,
  };
}

function toByteSource(stream: ReadableStream<Uint8Array>): ByteSource {
  const reader = stream.getReader();
  return {
    length: declaredLength(stream),
    async *chunks() {
      try {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) return;
          yield toChunk(value);
        }
      } catch (error) {
        // The status is already sent, so the connection is closed and the error is logged.
        logError(error);
        throw error;
      }
    },
    cancel: (reason) => reader.cancel(reason),
  };
}

function toChunk(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  const bytes = toBytes(chunk);
  if (bytes !== undefined) return bytes;
  throw new TypeError(`The stream of a Response must give bytes, not ${describe(chunk)}.`);
}

function faultText(error: unknown, mode: Mode, hint: string | undefined): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (mode !== "dev") return "Internal Server Error";
  return hint === undefined ? `${stack}\n` : `${stack}\n${hint}\n`;
}
