// HTMLRewriter: changes a document while it streams through a script.
import { Buffer } from "node:buffer";
import { ReadableStream } from "node:stream/web";
import { toBytes } from "../../../binding/arguments.ts";
import { type ByteStream, createBody } from "../fetch/body.ts";
import { ScriptHeaders } from "../fetch/headers.ts";
import { assembleResponse, describeResponse, ScriptResponse } from "../fetch/response.ts";
import type { DocumentListener, Handler, Listener } from "./handlers.ts";
import { createRewriter, type Rewriter } from "./rewriter.ts";
import { parseSelector } from "./selector.ts";

export class HTMLRewriter {
  readonly #listeners: Listener[] = [];
  readonly #documents: DocumentListener[] = [];

  on(selector: string, handlers: object): this {
    this.#listeners.push({
      selector: parseSelector(`${selector}`),
      element: readHandler(handlers, "element"),
      text: readHandler(handlers, "text"),
      comments: readHandler(handlers, "comments"),
    });
    return this;
  }

  onDocument(handlers: object): this {
    this.#documents.push({
      doctype: readHandler(handlers, "doctype"),
      text: readHandler(handlers, "text"),
      comments: readHandler(handlers, "comments"),
      end: readHandler(handlers, "end"),
    });
    return this;
  }

  /** The handlers run while the returned response is read. */
  transform(response: Response): Response {
    if (!(response instanceof ScriptResponse))
      throw new TypeError("HTMLRewriter transforms Response objects only.");
    checkEncoding(response.headers.get("content-type"));
    const headers = new ScriptHeaders(response.headers);
    const { status, statusText, body } = describeResponse(response);
    if (body === null) return assembleResponse({ status, statusText, headers, body: undefined });
    headers.delete("content-length");
    const rewriter = createRewriter([...this.#listeners], [...this.#documents]);
    return assembleResponse({
      status,
      statusText,
      headers,
      body: createBody(() => rewriteStream(body, rewriter)),
    });
  }
}

function readHandler(handlers: object, name: string): Handler | undefined {
  if (typeof handlers !== "object" || handlers === null) {
    throw new TypeError("HTMLRewriter needs an object with handlers: { element(element) {} }.");
  }
  const handler = (handlers as Readonly<Record<string, unknown>>)[name];
  if (handler === undefined || handler === null) return undefined;
  if (typeof handler !== "function") throw new TypeError(`The handler "${name}" must be a function.`);
  return (token) => handler.call(handlers, token) as unknown;
}

function checkEncoding(contentType: string | null): void {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType ?? "")?.[1] ?? "utf-8";
  if (!/^utf-16|^utf-32|^ucs-|^iso-2022/i.test(charset)) return;
  throw new TypeError(`HTMLRewriter cannot read ${charset}: its documents are UTF-8.`);
}

function rewriteStream(body: Uint8Array | string | ByteStream, rewriter: Rewriter): ByteStream {
  const reader = body instanceof ReadableStream ? body.getReader() : createReader(body);

  /** Returns the next bytes to send, and whether they are the last. */
  async function nextChunk(): Promise<{ bytes: Uint8Array; isLast: boolean }> {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { bytes: await rewriter.end(), isLast: true };
      const bytes = await rewriter.write(toRewriterInput(value));
      if (bytes.length > 0) return { bytes, isLast: false };
    }
  }

  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      try {
        const { bytes, isLast } = await nextChunk();
        if (bytes.length > 0) controller.enqueue(bytes);
        if (!isLast) return;
        controller.close();
        controller.byobRequest?.respond(0);
      } catch (error) {
        // The reader receives the handler's error; errors while cancelling the source are ignored.
        await reader.cancel(error).catch(() => {});
        throw error;
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

interface ChunkReader {
  read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
  cancel(reason: unknown): Promise<void>;
}

function createReader(body: Uint8Array | string): ChunkReader {
  let rest: Uint8Array | undefined = typeof body === "string" ? Buffer.from(body) : body;
  return {
    async read() {
      const value = rest;
      rest = undefined;
      return value === undefined ? { done: true } : { done: false, value };
    },
    async cancel() {
      rest = undefined;
    },
  };
}

function toRewriterInput(value: unknown): Uint8Array {
  const bytes = toBytes(value);
  if (bytes === undefined) throw new TypeError(`The body gave a ${typeof value} instead of bytes.`);
  return bytes;
}
