// Rewrites one streamed document. Tokens are written unchanged, unless a matching handler requests
// a change.
import { Buffer } from "node:buffer";
import { applyChanges, Comment, Doctype, DocumentEnd, EndTag, noChanges } from "./content.ts";
import { Element, type ElementState, elementState } from "./element.ts";
import { bytesFromText, textFromBytes } from "./encoding.ts";
import {
  call,
  createActiveHandlers,
  type DocumentListener,
  type Handler,
  type Listener,
} from "./handlers.ts";
import { namespaceUris, textElements, voidElements } from "./html-rules.ts";
import { createOpenElements, type OpenElement } from "./open-elements.ts";
import type { ScannedTag } from "./tag.ts";
import { createTextNode } from "./text-node.ts";
import { createTokenizer, type Token } from "./tokenizer.ts";

export interface Rewriter {
  /** Accepts input, and returns output that is ready. */
  write(bytes: Uint8Array): Promise<Uint8Array>;
  end(): Promise<Uint8Array>;
}

export function createRewriter(
  listeners: readonly Listener[],
  documents: readonly DocumentListener[],
): Rewriter {
  const tokenizer = createTokenizer();
  const open = createOpenElements<Listener>(listeners.some(({ selector }) => selector.countsNames));
  const activeHandlers = createActiveHandlers(listeners, documents);
  const text = createTextNode(activeHandlers.text, emit);
  let output = "";
  /** Number of open elements whose content is being removed. */
  let removals = 0;

  function emit(bytes: string): void {
    if (removals === 0) output += bytes;
  }

  async function addComment({ raw, from, to }: Extract<Token, { kind: "comment" }>): Promise<void> {
    const changes = noChanges();
    const commentText = {
      original: textFromBytes(raw.slice(from, to)),
      changed: undefined as string | undefined,
    };
    for (const handler of activeHandlers.comments()) await call(handler, new Comment(changes, commentText));
    emit(
      applyChanges(
        commentText.changed === undefined ? raw : `<!--${bytesFromText(commentText.changed)}-->`,
        changes,
      ),
    );
  }

  async function addDoctype(raw: string): Promise<void> {
    for (const { doctype } of documents) {
      if (doctype !== undefined) await call(doctype, new Doctype(noChanges(), textFromBytes(raw)));
    }
    emit(raw);
  }

  /** Returns a promise only if a handler is active: most tokens are handled synchronously. */
  function begin(tag: ScannedTag): Promise<void> | undefined {
    const closedCount = open.countClosedByStart(tag.name);
    return closedCount === 0 ? beginHere(tag) : endInnermost(closedCount).then(() => beginHere(tag));
  }

  function beginHere(tag: ScannedTag): Promise<void> | undefined {
    const namespace = tag.name === "svg" || tag.name === "math" ? tag.name : open.namespace();
    const { childIndex, typeIndex } = open.count(tag.name);
    const subject = { tag, childIndex, typeIndex };
    const matched = listeners.filter(({ selector }) => selector.matches(subject, open.ancestors()));
    const element: OpenElement<Listener> = {
      tag,
      childIndex,
      typeIndex,
      namespace,
      hasContent: namespace === "html" ? !voidElements.has(tag.name) : !tag.selfClosing,
      state: undefined,
      listeners: matched,
    };
    if (matched.length > 0) return beginListened(element);
    emit(tag.raw);
    enter(element);
    return undefined;
  }

  async function beginListened(element: OpenElement<Listener>): Promise<void> {
    const { tag, namespace, hasContent } = element;
    const state = elementState(tag, namespaceUris[namespace], hasContent);
    state.start.isRemoved = removals > 0;
    for (const listener of element.listeners) {
      if (listener.element !== undefined) await call(listener.element, new Element(state));
    }
    emit(applyChanges(state.tag.write(), state.start));
    enter({ ...element, state });
  }

  function enter(element: OpenElement<Listener>): void {
    if (!element.hasContent) return;
    open.push(element);
    if (element.state?.removesContent === true) removals++;
    activeHandlers.enter(element.listeners);
    tokenizer.allowCdata(open.namespace() !== "html");
    if (element.namespace === "html" && textElements.has(element.tag.name)) {
      tokenizer.expectRawText(element.tag.name);
    }
  }

  function end(raw: string, name: string): Promise<void> | undefined {
    const closedCount = open.countClosedByEnd(name);
    if (closedCount === 1) return closeElement(raw);
    if (closedCount > 1) return endInnermost(closedCount - 1).then(() => closeElement(raw));
    emit(raw);
    return undefined;
  }

  async function endInnermost(count: number): Promise<void> {
    for (let left = count; left > 0; left--) await closeElement("");
  }

  /** Closes the innermost element. `raw` is its end tag; empty if it is closed implicitly. */
  function closeElement(raw: string): Promise<void> | undefined {
    const { tag, state, listeners: left } = open.pop();
    if (state?.removesContent === true) removals--;
    activeHandlers.exit(left);
    tokenizer.allowCdata(open.namespace() !== "html");
    if (state !== undefined) return closeListened(raw, tag.name, state);
    emit(raw);
    return undefined;
  }

  async function closeListened(raw: string, tagName: string, state: ElementState): Promise<void> {
    const name = { original: textFromBytes(tagName), changed: state.isRenamed ? state.name : undefined };
    for (const handler of state.endTagHandlers) await call(handler as Handler, new EndTag(state.end, name));
    const isRewritten = raw !== "" && name.changed !== undefined;
    emit(applyChanges(isRewritten ? `</${bytesFromText(name.changed!)}>` : raw, state.end));
  }

  function handle(token: Token): Promise<void> | undefined {
    if (token.kind === "start") return begin(token.tag);
    if (token.kind === "end") return end(token.raw, token.name);
    if (token.kind === "doctype") return addDoctype(token.raw);
    if (token.kind === "comment" && activeHandlers.comments().length > 0) return addComment(token);
    if (token.kind === "text" && activeHandlers.text().length > 0) return text.add(token.raw);
    emit(token.raw);
    return undefined;
  }

  async function rewrite(): Promise<void> {
    for (let token = tokenizer.next(); token !== undefined; token = tokenizer.next()) {
      if (text.isOpen() && token.kind !== "text") await text.end();
      const handling = handle(token);
      if (handling !== undefined) await handling;
    }
  }

  function flush(): Uint8Array {
    // Allocated outside Node's pool: the byte stream takes ownership of the buffer.
    const bytes = Buffer.allocUnsafeSlow(output.length);
    bytes.write(output, "latin1");
    output = "";
    return bytes;
  }

  return {
    async write(bytes) {
      tokenizer.feed(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1"));
      await rewrite();
      return flush();
    },
    async end() {
      tokenizer.end();
      await rewrite();
      if (text.isOpen()) await text.end();
      await endInnermost(open.ancestors().length);
      const changes = noChanges();
      for (const { end: handler } of documents) {
        if (handler !== undefined) await call(handler, new DocumentEnd(changes));
      }
      emit(changes.before);
      return flush();
    },
  };
}
