// Asks an S3 service, again while that may help and there is time: only for requests that may be made twice.
import { setTimeout as pause } from "node:timers/promises";
import { createS3Wire, type S3Place, type S3Request, type S3Times, usualTimes } from "./client.ts";
import { isPassing, readRefusal } from "./errors.ts";
import { type Answer, type Leaving, Silence } from "./http-client.ts";
import { bodyOf, wholeBody } from "./response-body.ts";

const firstPause = 40;
const longestPause = 2000;

export interface S3Asking {
  readonly times: S3Times;
  /** Until it succeeds, cannot succeed, or the time for it is over. */
  untilDone<T>(work: (deadline: number, tries: number) => Promise<T>, leaving?: Leaving): Promise<T>;
  /** The answer's head, when the service has done what was asked. */
  accepted(request: S3Request, deadline: number): Promise<Answer>;
  /** With the answer's document. */
  ask(request: S3Request): Promise<Asked>;
  /** A failure in words for people. */
  told(error: unknown): unknown;
  isClosed(): boolean;
  close(): void;
}

export interface Asked {
  readonly message: Answer;
  readonly document: string;
  /** How often it was sent. */
  readonly tries: number;
}

export interface S3AskingOptions {
  readonly times?: Partial<S3Times>;
  /** The words for a failure, with the host that it is about. */
  readonly told: (error: unknown, host: string) => unknown;
}

export function createS3Asking(place: S3Place, { times: given, told }: S3AskingOptions): S3Asking {
  const times = { ...usualTimes, ...given };
  const wire = createS3Wire(place, times);
  let isClosed = false;

  async function untilDone<T>(
    work: (deadline: number, tries: number) => Promise<T>,
    leaving?: Leaving,
  ): Promise<T> {
    const deadline = performance.now() + times.retry;
    for (let tries = 0; ; tries++) {
      try {
        return await work(deadline, tries + 1);
      } catch (error) {
        if (error instanceof Silence) wire.dropKept();
        // Not all at the same moment, who were cut at the same moment.
        const wait = Math.min(firstPause * 2 ** tries, longestPause) * (0.5 + Math.random() / 2);
        const isOver = performance.now() + wait >= deadline || leaving?.isLeft === true;
        if (!isPassing(error) || isOver || isClosed) throw told(error, wire.host);
        await pause(wait);
      }
    }
  }

  async function accepted(request: S3Request, deadline: number): Promise<Answer> {
    const message = await wire.send(request, deadline);
    const status = message.statusCode!;
    if (status >= 200 && status < 300) return message;
    throw readRefusal(status, await wholeBody(bodyOf(message, times.idle)));
  }

  function ask(request: S3Request): Promise<Asked> {
    return untilDone(async (deadline, tries) => {
      const message = await accepted(request, deadline);
      return { message, document: await wholeBody(bodyOf(message, times.idle)), tries };
    });
  }

  return {
    times,
    untilDone,
    accepted,
    ask,
    told: (error) => told(error, wire.host),
    isClosed: () => isClosed,
    close() {
      isClosed = true;
      wire.close();
    },
  };
}
