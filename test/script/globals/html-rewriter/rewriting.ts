// Helpers that run HTML documents through HTMLRewriter.
import type {
  Comment,
  Doctype,
  DocumentEnd,
  EndTag,
  Text,
} from "../../../../src/script/globals/html-rewriter/content.ts";
import type { Element } from "../../../../src/script/globals/html-rewriter/element.ts";
import { script } from "../installed.ts";

export type { Comment, Doctype, DocumentEnd, Element, EndTag, Text };

export interface Handlers {
  element?(element: Element): unknown;
  text?(text: Text): unknown;
  comments?(comment: Comment): unknown;
}

export interface DocumentHandlers {
  doctype?(doctype: Doctype): unknown;
  text?(text: Text): unknown;
  comments?(comment: Comment): unknown;
  end?(end: DocumentEnd): unknown;
}

/** Returns the document after the handlers of one selector have run. */
export function rewrite(html: string, selector: string, handlers: Handlers): Promise<string> {
  return new script.HTMLRewriter().on(selector, handlers).transform(new script.Response(html)).text();
}

/** Returns the document after one element handler has run. */
export function onElements(
  html: string,
  selector: string,
  element: (element: Element) => unknown,
): Promise<string> {
  return rewrite(html, selector, { element });
}

export function onDocument(html: string, handlers: DocumentHandlers): Promise<string> {
  return new script.HTMLRewriter().onDocument(handlers).transform(new script.Response(html)).text();
}

/** Returns the id, or otherwise the name, of each element that matches the selector. */
export async function found(html: string, selector: string): Promise<string> {
  const names: string[] = [];
  await onElements(html, selector, (element) => {
    names.push(element.getAttribute("id") ?? element.tagName);
  });
  return names.join(" ");
}

/** Returns a stream of `bytes` with chunk boundaries at the offsets in `cuts`. */
export function cutStream(bytes: Uint8Array, cuts: readonly number[]): ReadableStream<Uint8Array> {
  const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])];
  places.sort((a, b) => a - b);
  const pieces = places.slice(1).map((end, index) => bytes.slice(places[index], end));
  return new ReadableStream({
    pull(controller) {
      const piece = pieces.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(piece);
    },
  });
}
