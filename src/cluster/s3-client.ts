// A small client of an S3 service: the five requests a shelf needs, made again while that may help and there is
// time. All of them may be made twice: a name is only ever written with the same bytes.
import { setTimeout as pause } from "node:timers/promises";
import { type Answer, Broken, type Leaving, Silence } from "../http/outgoing.ts";
import { damaged } from "./blocks.ts";
import { bodyOf, resumingBody, type S3Body, wholeBody } from "./s3-body.ts";
import { elementText, isPassing, readRefusal, S3Refusal, toldError } from "./s3-errors.ts";
import {
  createS3Wire,
  type S3Payload,
  type S3Place,
  type S3Request,
  type S3Times,
  usualTimes,
} from "./s3-wire.ts";

export interface S3Client {
  /** How often it was sent until it was known to have arrived. */
  put(key: string, body: S3Payload): Promise<number>;
  /** Writes it unless it is there; false when it is. */
  putNew(key: string, body: S3Payload): Promise<boolean>;
  /** Undefined when there is none. */
  getText(key: string): Promise<string | undefined>;
  /** Bytes of an object of known length. Asked for at once; goes on by itself where a connection breaks off. */
  get(key: string, range: S3Range): S3Body;
  /** How long it is; undefined when there is none. */
  head(key: string): Promise<number | undefined>;
  /** What is not there is as good as deleted. */
  delete(key: string): Promise<void>;
  list(prefix: string, options?: S3ListOptions): Promise<S3Page>;
  close(): void;
}

export interface S3Range {
  readonly offset: number;
  readonly length: number;
  /** Of the whole object. */
  readonly total: number;
}

export interface S3ListOptions {
  readonly most?: number;
  /** Of the page before. */
  readonly after?: string | undefined;
}

export interface S3Page {
  readonly entries: readonly { readonly key: string; readonly size: number }[];
  readonly next: string | undefined;
}

const firstPause = 40;
const longestPause = 2000;

export function createS3Client(place: S3Place, given: Partial<S3Times> = {}): S3Client {
  const times = { ...usualTimes, ...given };
  const wire = createS3Wire(place, times);
  let isClosed = false;

  /** Until it succeeds, cannot succeed, or the time for it is over. */
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
        if (!isPassing(error) || isOver || isClosed) throw toldError(error, wire.host);
        await pause(wait);
      }
    }
  }

  /** The answer's head, when the service has done what was asked. */
  async function accepted(request: S3Request, deadline: number): Promise<Answer> {
    const message = await wire.send(request, deadline);
    const status = message.statusCode!;
    if (status >= 200 && status < 300) return message;
    throw readRefusal(status, await wholeBody(bodyOf(message, times.idle)));
  }

  /** With the answer's document. */
  function ask(
    request: S3Request,
  ): Promise<{ readonly message: Answer; readonly document: string; readonly tries: number }> {
    return untilDone(async (deadline, tries) => {
      const message = await accepted(request, deadline);
      return { message, document: await wholeBody(bodyOf(message, times.idle)), tries };
    });
  }

  const keyOf = (key: string) => place.prefix + key;

  return {
    async put(key, body) {
      return (await ask({ method: "PUT", key: keyOf(key), body })).tries;
    },

    async putNew(key, body) {
      try {
        await ask({ method: "PUT", key: keyOf(key), body, headers: { "if-none-match": "*" } });
        return true;
      } catch (error) {
        const refusal = refusalOf(error);
        if (refusal?.status === 412 || refusal?.status === 409) return false;
        // Some services know no conditions.
        if (refusal?.status === 501) {
          await ask({ method: "PUT", key: keyOf(key), body });
          return true;
        }
        throw error;
      }
    },

    async getText(key) {
      try {
        return (await ask({ method: "GET", key: keyOf(key) })).document;
      } catch (error) {
        if (refusalOf(error)?.code === "NoSuchKey") return undefined;
        throw error;
      }
    },

    get: (key, range) =>
      resumingBody({
        length: range.length,
        retryMilliseconds: times.retry,
        isOver: () => isClosed,
        told: (error) => toldError(error, wire.host),
        async open(done, leaving) {
          const rest = { ...range, offset: range.offset + done, length: range.length - done };
          return untilDone(async (deadline) => {
            const message = await getRange(keyOf(key), rest, leaving, deadline);
            const body = bodyOf(message, times.idle);
            if (leaving.isLeft) body.leave();
            return body;
          }, leaving);
        },
      }),

    async head(key) {
      try {
        const { message } = await ask({ method: "HEAD", key: keyOf(key) });
        return numberIn(message.headers["content-length"]);
      } catch (error) {
        if (refusalOf(error)?.status === 404) return undefined;
        throw error;
      }
    },

    async delete(key) {
      try {
        await ask({ method: "DELETE", key: keyOf(key) });
      } catch (error) {
        if (refusalOf(error)?.code !== "NoSuchKey") throw error;
      }
    },

    async list(prefix, { most = 1000, after } = {}) {
      const query: (readonly [string, string])[] = [
        ["list-type", "2"],
        ["max-keys", String(most)],
        ["prefix", keyOf(prefix)],
      ];
      if (after !== undefined) query.push(["continuation-token", after]);
      const { document } = await ask({ method: "GET", query });
      try {
        return readPage(document, place.prefix);
      } catch (error) {
        throw toldError(error, wire.host);
      }
    },

    close() {
      isClosed = true;
      wire.close();
    },
  };

  async function getRange(key: string, range: S3Range, leaving: Leaving, deadline: number): Promise<Answer> {
    const { offset, length, total } = range;
    const isWhole = offset === 0 && length === total;
    const headers = isWhole ? {} : { range: `bytes=${offset}-${offset + length - 1}` };
    try {
      const message = await accepted({ method: "GET", key, headers, leaving }, deadline);
      const problem = rangeProblem(message, range);
      if (problem === undefined) return message;
      message.destroy();
      throw problem;
    } catch (error) {
      if (!(error instanceof S3Refusal)) throw error;
      if (error.code === "NoSuchKey") throw damaged(`${key} is missing`);
      if (error.status === 416) throw damaged(`${key} is shorter than the ${total} bytes written`);
      throw error;
    }
  }
}

function refusalOf(error: unknown): S3Refusal | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof S3Refusal ? cause : undefined;
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : undefined;
}

/** The service has what was written, as long as it was, and answers with what was asked for. */
function rangeProblem(message: Answer, { offset, length, total }: S3Range): Error | undefined {
  const announced = numberIn(message.headers["content-length"]);
  const span = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(message.headers["content-range"] ?? "");
  const stored = message.statusCode === 206 ? Number(span?.[3]) : announced;
  if (stored !== undefined && stored !== total && !Number.isNaN(stored)) {
    return damaged(`an object of ${total} bytes is ${stored} bytes long`);
  }
  const first = message.statusCode === 206 ? Number(span?.[1]) : 0;
  if (first === offset && announced === length) return undefined;
  return new Broken(`bytes ${offset} to ${offset + length - 1} were asked for, and others answered`);
}

function readPage(document: string, prefix: string): S3Page {
  const entries: { readonly key: string; readonly size: number }[] = [];
  for (const [, content] of document.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
    const key = elementText(content!, "Key");
    const size = numberIn(elementText(content!, "Size"));
    if (key === undefined || size === undefined || !key.startsWith(prefix)) {
      throw new Broken("a listing cannot be read");
    }
    entries.push({ key: key.slice(prefix.length), size });
  }
  const isTruncated = elementText(document, "IsTruncated");
  const next = isTruncated === "true" ? elementText(document, "NextContinuationToken") : undefined;
  if (isTruncated === undefined || (isTruncated === "true" && next === undefined)) {
    throw new Broken("a listing does not say whether it goes on");
  }
  return { entries, next };
}
