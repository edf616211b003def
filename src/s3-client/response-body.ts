// The body of an answer, asked for a chunk at a time: a service that falls silent while a chunk is due is cut, one
// whose receiver takes its time is not.
import { setTimeout as pause } from "node:timers/promises";
import { isPassing } from "./errors.ts";
import { type Answer, Broken, type Leaving, Silence } from "./http-client.ts";

export interface S3Body {
  /** Undefined at the end; throws when it breaks off before. */
  next(): Promise<Uint8Array | undefined>;
  /** Whoever stops before the end calls this; behind it, it does nothing. */
  leave(): void;
}

/** More waits in the system, not here. */
const aheadBytes = 256 * 1024;

export function bodyOf(message: Answer, idleMilliseconds: number): S3Body {
  const chunks: Uint8Array[] = [];
  let ahead = 0;
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
    ahead += chunk.length;
    if (ahead >= aheadBytes) message.pause();
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
      ahead -= chunk.length;
      if (ahead < aheadBytes && message.isPaused()) message.resume();
      return chunk;
    },
    leave() {
      clearTimeout(timer);
      if (ending === undefined) message.destroy();
    },
  };
}

/** Of a document, which is never large. */
const documentBytes = 16 * 1024 * 1024;

/** All of a small body; read to its end, so that its connection may serve again. */
export async function wholeBody(body: S3Body): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let chunk = await body.next(); chunk !== undefined; chunk = await body.next()) {
    size += chunk.length;
    if (size > documentBytes) {
      body.leave();
      throw new Broken("an answer is longer than any such answer");
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

export interface Resuming {
  readonly length: number;
  /** For how long it is tried again without a new byte. */
  readonly retryMilliseconds: number;
  /** What is left behind so many bytes. */
  open(done: number, leaving: Leaving): Promise<S3Body>;
  /** Whether to try no more. */
  isOver(): boolean;
  /** A failure in words for people. */
  told(error: unknown): unknown;
}

const resumePause = 40;

/** Goes on where it was when a body breaks off. The first one is asked for at once. */
export function resumingBody({ length, retryMilliseconds, open, isOver, told }: Resuming): S3Body {
  const leaving: Leaving = { isLeft: false, cut: undefined };
  let done = 0;
  let opening: Promise<S3Body> | undefined = open(0, leaving);
  // Told when it is asked for.
  opening.catch(() => {});
  let body: S3Body | undefined;

  async function nextOrBroken(): Promise<Uint8Array | undefined> {
    if (body === undefined) {
      opening ??= open(done, leaving);
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
          const chunk = await nextOrBroken();
          done += chunk?.length ?? 0;
          return chunk;
        } catch (error) {
          const isLate = performance.now() - start >= retryMilliseconds;
          if (leaving.isLeft || isOver() || isLate || !isPassing(error)) throw told(error);
          body?.leave();
          body = undefined;
          opening = undefined;
          await pause(resumePause);
        }
      }
    },
    leave() {
      leaving.isLeft = true;
      leaving.cut?.();
      body?.leave();
    },
  };
}
