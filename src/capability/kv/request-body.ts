// The body of a request, of which a refusal leaves a part unread. The runtime reads a response only
// after it has sent the whole body, so the rest is read and discarded before the response.
import type { Source } from "../../engine/engine.ts";
import { release } from "../../http/server/body/release-buffer.ts";
import type { HttpRequest } from "../../http/server/listen.ts";
import { KeyValueError } from "../../model/key-value.ts";

export interface RequestBody {
  toSource(): Source;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Returns false if the rest is too long: the connection must be closed to end it. */
  discardRest(): Promise<boolean>;
}

/** More than the memory of a script: only an endless stream is cut off. */
const maxDiscardedBytes = 128 * 1024 * 1024;

export function openBody(http: HttpRequest): RequestBody {
  let isComplete = !http.hasBody;
  let opened: AsyncIterator<Uint8Array> | undefined;
  function next(): Promise<IteratorResult<Uint8Array>> {
    opened ??= http.body()[Symbol.asyncIterator]();
    return opened.next();
  }
  // Without a method `return`, a reader that stops early leaves the iterator open for the rest.
  const chunks: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: () => ({ next }) };

  return {
    chunks,
    toSource() {
      if (!http.hasBody) return new Uint8Array();
      const declared = http.header("content-length");
      const length = declared === undefined ? undefined : Number(declared);
      if (length !== undefined && !Number.isSafeInteger(length)) {
        throw new KeyValueError(400, "Invalid content-length.");
      }
      const bytes = http.bufferedBody?.();
      isComplete = bytes !== undefined;
      return bytes ?? { length, chunks: () => chunks, release, cancel: async () => {} };
    },
    async discardRest() {
      if (isComplete) return true;
      try {
        for (let discarded = 0; discarded <= maxDiscardedBytes; ) {
          const { done, value } = await next();
          if (done === true) return true;
          discarded += value.length;
        }
        await opened!.return?.();
      } catch {
        // The client has disconnected.
      }
      return false;
    },
  };
}
