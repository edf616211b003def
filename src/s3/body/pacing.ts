// Applies the rates of an access key: refuses requests beyond the rate, and slows bodies down in both
// directions. A body is never refused: the connection's backpressure slows the client down.
import { setTimeout as sleep } from "node:timers/promises";
import type { Caller } from "../../access/decide.ts";
import { createKeyRates, type KeyLimits } from "../../access/keys/key-rates.ts";
import type { HttpBody } from "../../http/server/listen.ts";
import { S3Error } from "../errors.ts";
import type { Payload } from "./payload.ts";

export interface PacingOptions {
  readonly now: () => number;
  /** Number of processes that share the rates; default: 1. */
  readonly processes?: number | undefined;
  readonly pause?: ((milliseconds: number) => Promise<void>) | undefined;
}

/** The bodies of one request of a key with limits. */
export interface Pace {
  incoming(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  payload(payload: Payload): Payload;
  outgoing(body: HttpBody): HttpBody;
}

interface LimitedKey {
  readonly accessKeyId: string;
  readonly limits: KeyLimits;
}

export interface Pacing {
  /**
   * Throws SlowDown beyond the rate of requests. Waits while earlier bodies exceed that of bytes.
   * Undefined: the caller has no limits.
   */
  enter(caller: Pick<Caller, "accessKeyId" | "limits" | "source">): Promise<Pace | undefined>;
}

/** A longer wait is divided, so that a cancelled body does not keep its stream for long. */
const maxPauseMilliseconds = 1000;

export function createPacing({ now, processes = 1, pause = sleepFor }: PacingOptions): Pacing {
  const rates = createKeyRates(now, processes);

  async function wait(milliseconds: number, isCancelled: () => boolean): Promise<void> {
    for (let left = milliseconds; left > 0 && !isCancelled(); left -= maxPauseMilliseconds)
      await pause(Math.min(left, maxPauseMilliseconds));
  }

  function createPace({ accessKeyId, limits }: LimitedKey): Pace {
    const take = (bytes: number) => rates.takeBytes(accessKeyId, limits, bytes);

    async function* paced(chunks: AsyncIterable<Uint8Array>, isCancelled: () => boolean) {
      for await (const chunk of chunks) {
        await wait(take(chunk.length), isCancelled);
        yield chunk;
      }
    }
    const incoming = (chunks: AsyncIterable<Uint8Array>) => paced(chunks, () => false);

    return {
      incoming,
      payload({ source, bufferedBytes, trailers, share }) {
        const { directReader: _, ...rest } = source;
        return {
          source: { ...rest, chunks: () => incoming(source.chunks()) },
          bufferedBytes() {
            const bytes = bufferedBytes();
            // They have arrived already: the next request waits for them.
            if (bytes !== undefined) take(bytes.length);
            return bytes;
          },
          trailers,
          share,
        };
      },
      outgoing(body) {
        if (body === null || typeof body === "string" || body instanceof Uint8Array) {
          take(body?.length ?? 0);
          return body;
        }
        let isCancelled = false;
        return {
          length: body.length,
          chunks: () => paced(body.chunks(), () => isCancelled),
          ...(body.release === undefined ? {} : { release: (chunk) => body.release!(chunk) }),
          cancel(reason) {
            isCancelled = true;
            return body.cancel(reason);
          },
        };
      },
    };
  }

  return {
    async enter({ accessKeyId: id, limits, source }) {
      if (limits === undefined) return undefined;
      const accessKeyId = source ?? id;
      const refusedFor = rates.takeRequest(accessKeyId, limits);
      if (refusedFor > 0) {
        throw new S3Error("SlowDown", {
          message: "The access key sends more requests per second than it may: please slow down.",
          retryAfterSeconds: Math.max(1, Math.ceil(refusedFor / 1000)),
        });
      }
      await wait(rates.takeBytes(accessKeyId, limits, 0), () => false);
      return createPace({ accessKeyId, limits });
    },
  };
}

async function sleepFor(milliseconds: number): Promise<void> {
  await sleep(milliseconds);
}
