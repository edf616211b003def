// A small S3 client with the requests that the blob backend needs. Every request can be retried,
// because a key is never written with different bytes.
import type { S3Endpoint, S3Payload, S3Times } from "../../../s3-client/client.ts";
import { findRefusal, parseNumber, S3Refusal, toStoreError } from "../../../s3-client/errors.ts";
import { type Answer, Broken, type Cancellation } from "../../../s3-client/http-client.ts";
import { readListing } from "../../../s3-client/listing.ts";
import { createResumingBody, readBody, type S3Body } from "../../../s3-client/response-body.ts";
import { createRetryingS3Client } from "../../../s3-client/retrying-client.ts";
import { damaged } from "../block-format.ts";

export interface S3Client {
  /** Returns the number of times the object was sent until the service confirmed it. */
  put(key: string, body: S3Payload): Promise<number>;
  /** Creates the object. Returns false if the object already exists. */
  putNew(key: string, body: S3Payload): Promise<boolean>;
  /** Returns undefined if the object does not exist. */
  getText(key: string): Promise<string | undefined>;
  /** Reads a range of an object of known length. Resumes after a broken connection. */
  get(key: string, range: S3Range): S3Body;
  /** Returns the object's length. Undefined if the object does not exist. */
  head(key: string): Promise<number | undefined>;
  /** Deletes the object. A missing object is not an error. */
  delete(key: string): Promise<void>;
  list(prefix: string, options?: S3ListOptions): Promise<S3Page>;
  close(): void;
}

export interface S3Range {
  readonly offset: number;
  readonly length: number;
  /** Length of the whole object. */
  readonly total: number;
}

export interface S3ListOptions {
  readonly limit?: number;
  /** The value of `next` in the previous page. */
  readonly after?: string | undefined;
}

export interface S3Page {
  readonly entries: readonly { readonly key: string; readonly size: number }[];
  readonly next: string | undefined;
}

export function createS3Client(endpoint: S3Endpoint, givenTimes: Partial<S3Times> = {}): S3Client {
  const retryingClient = createRetryingS3Client(endpoint, { times: givenTimes, mapError: toStoreError });
  const { times, withRetries, send, sendWithRetries } = retryingClient;

  const prefixKey = (key: string) => endpoint.prefix + key;

  return {
    async put(key, body) {
      return (await sendWithRetries({ method: "PUT", key: prefixKey(key), body })).tries;
    },

    async putNew(key, body) {
      try {
        await sendWithRetries({
          method: "PUT",
          key: prefixKey(key),
          body,
          headers: { "if-none-match": "*" },
        });
        return true;
      } catch (error) {
        const refusal = findRefusal(error);
        if (refusal?.status === 412 || refusal?.status === 409) return false;
        // Some services do not support conditional writes.
        if (refusal?.status === 501) {
          await sendWithRetries({ method: "PUT", key: prefixKey(key), body });
          return true;
        }
        throw error;
      }
    },

    async getText(key) {
      try {
        return (await sendWithRetries({ method: "GET", key: prefixKey(key) })).document;
      } catch (error) {
        if (findRefusal(error)?.code === "NoSuchKey") return undefined;
        throw error;
      }
    },

    get: (key, range) =>
      createResumingBody({
        length: range.length,
        retryMilliseconds: times.retry,
        isOver: retryingClient.isClosed,
        mapError: retryingClient.mapError,
        async open(done, cancellation) {
          const rest = { ...range, offset: range.offset + done, length: range.length - done };
          return withRetries(async (deadline) => {
            const message = await getRange(prefixKey(key), rest, cancellation, deadline);
            const body = readBody(message, times.idle);
            if (cancellation.isCancelled) body.cancel();
            return body;
          }, cancellation);
        },
      }),

    async head(key) {
      try {
        const { message } = await sendWithRetries({ method: "HEAD", key: prefixKey(key) });
        return parseNumber(message.headers["content-length"]);
      } catch (error) {
        if (findRefusal(error)?.status === 404) return undefined;
        throw error;
      }
    },

    async delete(key) {
      try {
        await sendWithRetries({ method: "DELETE", key: prefixKey(key) });
      } catch (error) {
        if (findRefusal(error)?.code !== "NoSuchKey") throw error;
      }
    },

    async list(prefix, { limit = 1000, after } = {}) {
      const query: (readonly [string, string])[] = [
        ["list-type", "2"],
        ["max-keys", String(limit)],
        ["prefix", prefixKey(prefix)],
      ];
      if (after !== undefined) query.push(["continuation-token", after]);
      const { document } = await sendWithRetries({ method: "GET", query });
      try {
        const page = readListing(document, { prefix: prefixKey(prefix), limit, after });
        const entries = page.entries.map(({ key, size }) => ({
          key: key.slice(endpoint.prefix.length),
          size,
        }));
        return { entries, next: page.next };
      } catch (error) {
        throw retryingClient.mapError(error);
      }
    },

    close: retryingClient.close,
  };

  async function getRange(
    key: string,
    range: S3Range,
    cancellation: Cancellation,
    deadline: number,
  ): Promise<Answer> {
    const { offset, length, total } = range;
    const isWhole = offset === 0 && length === total;
    const headers = isWhole ? {} : { range: `bytes=${offset}-${offset + length - 1}` };
    try {
      const message = await send({ method: "GET", key, headers, cancellation }, deadline);
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

/** Returns an error if the response is not the requested range, or the object's length is wrong. */
function rangeProblem(message: Answer, { offset, length, total }: S3Range): Error | undefined {
  const announced = parseNumber(message.headers["content-length"]);
  const span = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(message.headers["content-range"] ?? "");
  const stored = message.statusCode === 206 ? Number(span?.[3]) : announced;
  if (stored !== undefined && stored !== total && !Number.isNaN(stored)) {
    return damaged(`an object of ${total} bytes is ${stored} bytes long`);
  }
  const first = message.statusCode === 206 ? Number(span?.[1]) : 0;
  if (first === offset && announced === length) return undefined;
  return new Broken(`bytes ${offset} to ${offset + length - 1} were requested, the service sent others`);
}
