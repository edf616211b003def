// Reads a response body chunk by chunk. The timeout runs only while the reader waits for a chunk,
// so a slow reader does not abort the response.
import { Buffer } from "node:buffer";
import { performance } from "node:perf_hooks";
import { clearTimeout, setTimeout } from "node:timers";
import { setTimeout as pause } from "node:timers/promises";
import { isTransient } from "./errors.ts";
import { type Answer, Broken, type Cancellation, Silence } from "./http-client.ts";

export interface S3Body {
  /** Returns undefined at the end; throws when the body is cut off. */
  next(): Promise<Uint8Array | undefined>;
  /** Must be called by a reader that stops before the end. Has no effect after the end. */
  cancel(): void;
}

/** Maximum of buffered bytes. When it is reached, reading from the socket pauses. */
const maxBufferedBytes = 256 * 1024;

export function readBody(message: Answer, idleMilliseconds: number): S3Body {
  const chunks: Uint8Array[] = [];
  let bufferedBytes = 0;
  let ending: { readonly error?: Error } | undefined;
  let wake: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;

  function end(how: { readonly error?: Error }): void {
    ending ??= how;
    clearTimeout(timer);
    wake?.();
  }

  message.on("data", (chunk: Uint8Array) => {
    chunks.push(chunk);
    bufferedBytes += chunk.length;
    if (bufferedBytes >= maxBufferedBytes) message.pause();
    wake?.();
  });
  message.on("end", () => end({}));
  message.on("error", (error) => end({ error }));
  const endCut = () => {
    if (ending !== undefined) return;
    end({ error: new Broken("the connection was closed in the middle of a response") });
  };
  message.on("close", endCut);
  if (message.destroyed) endCut();

  return {
    async next() {
      while (chunks.length === 0) {
        if (ending?.error !== undefined) throw ending.error;
        if (ending !== undefined) return undefined;
        timer ??= setTimeout(() => {
          // Fail only if a reader waits. Each call of `next` restarts the timer.
          if (wake !== undefined) message.destroy(new Silence("no more bytes arrived in time"));
        }, idleMilliseconds);
        timer.refresh();
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = undefined;
      }
      const chunk = chunks.shift()!;
      bufferedBytes -= chunk.length;
      if (bufferedBytes < maxBufferedBytes && message.isPaused()) message.resume();
      return chunk;
    },
    cancel() {
      clearTimeout(timer);
      if (ending === undefined) message.destroy();
    },
  };
}

/** Maximum size of an XML document; documents of S3 are smaller. */
const maxDocumentBytes = 16 * 1024 * 1024;

/** Maximum time for a document: its bytes may each arrive just before the idle timeout. */
const documentMilliseconds = 60_000;

/** Reads a small body to its end, so that the connection can be reused. */
export async function readText(body: S3Body, milliseconds = documentMilliseconds): Promise<string> {
  const end = performance.now() + milliseconds;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let chunk = await body.next(); chunk !== undefined; chunk = await body.next()) {
    size += chunk.length;
    if (size > maxDocumentBytes) {
      body.cancel();
      throw new Broken(`a document is longer than ${maxDocumentBytes} bytes`);
    }
    if (performance.now() > end) {
      body.cancel();
      throw new Silence("a document did not arrive in time");
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Whether the answer is the object from `offset` on, as a request with a Range expects. */
export function isRestFrom({ statusCode, headers }: Answer, offset: number): boolean {
  return statusCode === 206 && headers["content-range"]?.startsWith(`bytes ${offset}-`) === true;
}

export interface ResumingBodyOptions {
  readonly length: number;
  /** How long to retry while no new bytes arrive. */
  readonly retryMilliseconds: number;
  /** Opens the rest of the body, after the first `done` bytes. */
  open(done: number, cancellation: Cancellation): Promise<S3Body>;
  /** Whether to stop retrying. */
  isOver(): boolean;
  mapError(error: unknown): unknown;
}

const resumePause = 40;

/** Returns a body that resumes after an interruption. The first request is sent immediately. */
export function createResumingBody(options: ResumingBodyOptions): S3Body {
  const { length, retryMilliseconds, open, isOver, mapError } = options;
  const cancellation: Cancellation = { isCancelled: false, abort: undefined };
  let done = 0;
  let opening: Promise<S3Body> | undefined = open(0, cancellation);
  // The first call of `next` throws the error.
  opening.catch(() => {});
  let body: S3Body | undefined;

  async function nextOrThrow(): Promise<Uint8Array | undefined> {
    if (body === undefined) {
      opening ??= open(done, cancellation);
      body = await opening;
    }
    const chunk = await body.next();
    if (chunk === undefined && done < length) throw new Broken("a response ended too early");
    if (done + (chunk?.length ?? 0) > length)
      throw mapError(new Broken("a response has more bytes than were announced"));
    return chunk;
  }

  return {
    async next() {
      const start = performance.now();
      for (;;) {
        try {
          const chunk = await nextOrThrow();
          done += chunk?.length ?? 0;
          return chunk;
        } catch (error) {
          // All bytes have arrived: there is nothing to resume.
          if (body !== undefined && done === length && isTransient(error)) return undefined;
          const isLate = performance.now() - start >= retryMilliseconds;
          if (cancellation.isCancelled || isOver() || isLate || !isTransient(error)) throw mapError(error);
          body?.cancel();
          body = undefined;
          opening = undefined;
          await pause(resumePause);
        }
      }
    },
    cancel() {
      cancellation.isCancelled = true;
      cancellation.abort?.();
      body?.cancel();
    },
  };
}
