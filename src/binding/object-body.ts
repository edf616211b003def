// An object with its body. The body is read from the engine on demand, and only once.
import { Blob, Buffer } from "node:buffer";
import { ReadableStream } from "node:stream/web";
import { TextDecoder } from "node:util";
import type { ObjectBytes } from "../engine/engine.ts";
import { attachAction } from "../model/errors.ts";
import type { ObjectRecord } from "../model/object.ts";
import type { ByteRange } from "../model/range.ts";
import type * as script from "../types.ts";
import { declareLength } from "./fixed-length-stream.ts";
import { StoreObject } from "./object.ts";

export class StoreObjectBody extends StoreObject implements script.StoreObjectBody {
  readonly #bytes: ObjectBytes;
  #stream: ReadableStream<Uint8Array> | undefined;
  #used = false;

  constructor(record: ObjectRecord, range: ByteRange, bytes: ObjectBytes) {
    super(record, range);
    this.#bytes = bytes;
  }

  get body(): ReadableStream<Uint8Array> {
    if (this.#stream === undefined) {
      this.#stream = this.#openStream();
      // The body was already read by a method such as text(): return a locked stream.
      if (this.#used) this.#stream.getReader();
    }
    return this.#stream;
  }

  get bodyUsed(): boolean {
    return this.#used;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer as ArrayBuffer;
  }

  /** Returns the whole body in a new buffer. */
  async bytes(): Promise<Uint8Array> {
    if (this.#used || this.#stream?.locked === true) {
      throw new TypeError(
        "The body has already been read: it can be read only once. Keep the value, or get again.",
      );
    }
    this.#used = true;
    this.#stream?.getReader();
    const { inline, length } = this.#bytes;
    if (inline !== undefined) return new Uint8Array(inline);
    const value = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer);
    let filled = 0;
    for await (const chunk of this.#chunks(value)) {
      if (chunk.buffer !== value.buffer) value.set(chunk, filled);
      filled += chunk.length;
    }
    return value;
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }

  async json<T = unknown>(): Promise<T> {
    return JSON.parse(await this.text()) as T;
  }

  async blob(): Promise<Blob> {
    return new Blob([await this.bytes()], { type: this.httpMetadata?.contentType ?? "" });
  }

  async *#chunks(into?: Uint8Array): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#bytes.chunks(into);
    } catch (error) {
      throw attachAction("get", error);
    }
  }

  #openStream(): ReadableStream<Uint8Array> {
    const chunks = this.#chunks();
    const stream: ReadableStream<Uint8Array> = new ReadableStream({
      type: "bytes",
      pull: async (controller) => {
        this.#used = true;
        const { done, value } = await chunks.next();
        if (done === true) {
          controller.close();
          controller.byobRequest?.respond(0);
        } else {
          // The stream transfers the underlying buffer: copy a chunk that is only a part of it.
          const isWhole = value.byteLength === value.buffer.byteLength;
          controller.enqueue(isWhole ? value : new Uint8Array(value));
        }
      },
      cancel: async () => {
        this.#used = true;
        await chunks.return(undefined);
        await this.#bytes.cancel();
      },
    });
    declareLength(stream, this.#bytes.length);
    return stream;
  }
}
