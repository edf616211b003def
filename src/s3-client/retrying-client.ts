// Asks an S3 service, again while that may help and there is time: only for requests that may be made twice.
import { setTimeout as pause } from "node:timers/promises";
import {
  createS3Transport,
  defaultS3Times,
  type S3Endpoint,
  type S3Request,
  type S3Times,
} from "./client.ts";
import { isTransient, readRefusal } from "./errors.ts";
import { type Answer, type Cancellation, Silence } from "./http-client.ts";
import { readBody, readText } from "./response-body.ts";

const firstPause = 40;
const maxPause = 2000;

export interface RetryingS3Client {
  readonly times: S3Times;
  /** Until it succeeds, cannot succeed, or the time for it is over. */
  withRetries<T>(
    work: (deadline: number, tries: number) => Promise<T>,
    cancellation?: Cancellation,
  ): Promise<T>;
  /** The answer's head, when the service has done what was asked. */
  send(request: S3Request, deadline: number): Promise<Answer>;
  /** With the answer's document. */
  sendWithRetries(request: S3Request): Promise<S3Response>;
  /** A failure in words for people. */
  mapError(error: unknown): unknown;
  isClosed(): boolean;
  close(): void;
}

export interface S3Response {
  readonly message: Answer;
  readonly document: string;
  /** How often it was sent. */
  readonly tries: number;
}

export interface RetryingS3ClientOptions {
  readonly times?: Partial<S3Times>;
  /** The words for a failure, with the host that it is about. */
  readonly mapError: (error: unknown, host: string) => unknown;
}

export function createRetryingS3Client(
  endpoint: S3Endpoint,
  { times: givenTimes, mapError }: RetryingS3ClientOptions,
): RetryingS3Client {
  const times = { ...defaultS3Times, ...givenTimes };
  const transport = createS3Transport(endpoint, times);
  let isClosed = false;

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
        // Not all at the same moment, who were cut at the same moment.
        const wait = Math.min(firstPause * 2 ** tries, maxPause) * (0.5 + Math.random() / 2);
        const isOver = performance.now() + wait >= deadline || cancellation?.isCancelled === true;
        if (!isTransient(error) || isOver || isClosed) throw mapError(error, transport.host);
        await pause(wait);
      }
    }
  }

  async function send(request: S3Request, deadline: number): Promise<Answer> {
    const message = await transport.send(request, deadline);
    const status = message.statusCode!;
    if (status >= 200 && status < 300) return message;
    throw readRefusal(status, await readText(readBody(message, times.idle)));
  }

  function sendWithRetries(request: S3Request): Promise<S3Response> {
    return withRetries(async (deadline, tries) => {
      const message = await send(request, deadline);
      return { message, document: await readText(readBody(message, times.idle)), tries };
    });
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
