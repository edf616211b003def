// The body of an answer, asked for a chunk at a time: a service that falls silent while a chunk is due is cut, one
// whose receiver takes its time is not.
import { setTimeout as pause } from "node:timers/promises";
import { isTransient } from "./errors.ts";
import { type Answer, Broken, type Cancellation, Silence } from "./http-client.ts";

export interface S3Body {
  /** Undefined at the end; throws when it breaks off before. */
  next(): Promise<Uint8Array | undefined>;
  /** Whoever stops before the end calls this; behind it, it does nothing. */
  cancel(): void;
}

/** More waits in the system, not here. */
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
    end({ error: new Broken("the connection was cut in the middle of an answer") });
  };
  message.on("close", endCut);
  if (message.destroyed) endCut();

  return {
    async next() {
      while (chunks.length === 0) {
        if (ending?.error !== undefined) throw ending.error;
        if (ending !== undefined) return undefined;
        timer ??= setTimeout(() => {
          // Somebody who asks later begins to wait anew.
          if (wake !== undefined) message.destroy(new Silence("no more bytes came within the time for them"));
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

/** Of a document, which is never large. */
const maxDocumentBytes = 16 * 1024 * 1024;

/** All of a small body; read to its end, so that its connection may serve again. */
export async function readText(body: S3Body): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let chunk = await body.next(); chunk !== undefined; chunk = await body.next()) {
    size += chunk.length;
    if (size > maxDocumentBytes) {
      body.cancel();
      throw new Broken("an answer is longer than any such answer");
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

export interface ResumingBodyOptions {
  readonly length: number;
  /** For how long it is tried again without a new byte. */
  readonly retryMilliseconds: number;
  /** What is left behind so many bytes. */
  open(done: number, cancellation: Cancellation): Promise<S3Body>;
  /** Whether to try no more. */
  isOver(): boolean;
  /** A failure in words for people. */
  mapError(error: unknown): unknown;
}

const resumePause = 40;

/** Goes on where it was when a body breaks off. The first one is asked for at once. */
export function createResumingBody({
  length,
  retryMilliseconds,
  open,
  isOver,
  mapError,
}: ResumingBodyOptions): S3Body {
  const cancellation: Cancellation = { isCancelled: false, abort: undefined };
  let done = 0;
  let opening: Promise<S3Body> | undefined = open(0, cancellation);
  // Told when it is asked for.
  opening.catch(() => {});
  let body: S3Body | undefined;

  async function nextOrThrow(): Promise<Uint8Array | undefined> {
    if (body === undefined) {
      opening ??= open(done, cancellation);
      body = await opening;
    }
    const chunk = await body.next();
    if (chunk === undefined && done < length) throw new Broken("an answer ended too early");
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
