// Sends idempotent requests to an S3 service and retries transient errors until a deadline.
import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import {
  createS3Transport,
  defaultS3Times,
  type S3Endpoint,
  type S3Request,
  type S3Times,
} from "./client.ts";
import { isTransient, isUnreachable, readRefusal } from "./errors.ts";
import { type Answer, type Cancellation, Silence } from "./http-client.ts";
import { readBody, readText } from "./response-body.ts";

const firstPause = 40;
const maxPause = 2000;

export interface RetryingS3Client {
  readonly times: S3Times;
  /** Retries `work` until it succeeds, fails permanently, or the deadline has passed. */
  withRetries<T>(
    work: (deadline: number, tries: number) => Promise<T>,
    cancellation?: Cancellation,
  ): Promise<T>;
  /** Returns the response head; throws an S3Refusal for an error status. */
  send(request: S3Request, deadline: number): Promise<Answer>;
  /** Sends a request with retries and returns the response with its body. */
  sendWithRetries(request: S3Request): Promise<S3Response>;
  mapError(error: unknown): unknown;
  isClosed(): boolean;
  close(): void;
}

export interface S3Response {
  readonly message: Answer;
  readonly document: string;
  /** How many times the request was sent. */
  readonly tries: number;
}

export interface RetryingS3ClientOptions {
  readonly times?: Partial<S3Times>;
  /** Maximum number of tries of one request. Default: limited only by the time. */
  readonly maxTries?: number;
  /** "report": a service that cannot be reached at the first request is not tried again. */
  readonly unreachable?: "retry" | "report";
  /** Converts an error to the error that callers get. */
  readonly mapError: (error: unknown, host: string) => unknown;
}

export function createRetryingS3Client(
  endpoint: S3Endpoint,
  options: RetryingS3ClientOptions,
): RetryingS3Client {
  const { times: givenTimes, maxTries = Number.POSITIVE_INFINITY, mapError } = options;
  const times = { ...defaultS3Times, ...givenTimes };
  const transport = createS3Transport(endpoint, times);
  let isClosed = false;
  let hasAnswered = false;

  function canRetry(error: unknown, tries: number): boolean {
    if (isClosed || tries >= maxTries || !isTransient(error)) return false;
    return hasAnswered || options.unreachable !== "report" || !isUnreachable(error);
  }

  async function withRetries<T>(
    work: (deadline: number, tries: number) => Promise<T>,
    cancellation?: Cancellation,
  ): Promise<T> {
    const deadline = performance.now() + times.retry;
    for (let tries = 0; ; tries++) {
      try {
        return await work(deadline, tries + 1);
      } catch (error) {
        if (error instanceof Silence) transport.dropIdleConnections();
        // Jitter: requests that failed at the same time must not be retried at the same time.
        const wait = Math.min(firstPause * 2 ** tries, maxPause) * (0.5 + Math.random() / 2);
        const isOver = performance.now() + wait >= deadline || cancellation?.isCancelled === true;
        if (isOver || !canRetry(error, tries + 1)) throw mapError(error, transport.host);
        await pause(wait);
      }
    }
  }

  async function send(request: S3Request, deadline: number): Promise<Answer> {
    const message = await transport.send(request, deadline);
    hasAnswered = true;
    const status = message.statusCode!;
    if (status >= 200 && status < 300) return message;
    throw readRefusal(status, await readText(readBody(message, times.idle)), message.headers);
  }

  async function sendOnce(request: S3Request, deadline: number): Promise<Omit<S3Response, "tries">> {
    const message = await send(request, deadline);
    const document = await readText(readBody(message, times.idle));
    if (writes.has(request.method)) refuseErrorDocument(message, document);
    return { message, document };
  }

  function sendWithRetries(request: S3Request): Promise<S3Response> {
    return withRetries(async (deadline, tries) => ({ ...(await sendOnce(request, deadline)), tries }));
  }

  return {
    times,
    withRetries,
    send,
    sendWithRetries,
    mapError: (error) => mapError(error, transport.host),
    isClosed: () => isClosed,
    close() {
      isClosed = true;
      transport.close();
    },
  };
}

const writes: ReadonlySet<S3Request["method"]> = new Set(["PUT", "POST", "DELETE"]);

/** A service may send status 200 before it knows the outcome, and an error document after it. */
export function refuseErrorDocument({ headers }: Answer, document: string): void {
  if (/^\s*(<\?xml[^>]*\?>\s*)?<Error[\s>]/.test(document)) throw readRefusal(500, document, headers);
}
