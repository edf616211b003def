// An element as its handlers see it: the start tag is complete; content and end tag have not
// arrived yet.
import {
  type Changes,
  type ContentOptions,
  ContentToken,
  contentBytes,
  type EndTag,
  noChanges,
  requireChanges,
} from "./content.ts";
import { textFromBytes } from "./encoding.ts";
import { type EditableTag, editableTag, type ScannedTag } from "./tag.ts";

export type EndTagHandler = (tag: EndTag) => unknown;

/** All changes that handlers request for an element. */
export interface ElementState {
  readonly tag: EditableTag;
  /** Insertions around the start tag: before the element, and at the start of its content. */
  readonly start: Changes;
  /** Insertions around the end tag: at the end of its content, and after the element. */
  readonly end: Changes;
  readonly hasContent: boolean;
  readonly namespaceUri: string;
  readonly endTagHandlers: EndTagHandler[];
  name: string;
  isRenamed: boolean;
  removesContent: boolean;
}

export function elementState(tag: ScannedTag, namespaceUri: string, hasContent: boolean): ElementState {
  return {
    tag: editableTag(tag),
    start: noChanges(),
    end: noChanges(),
    hasContent,
    namespaceUri,
    endTagHandlers: [],
    name: textFromBytes(tag.name),
    isRenamed: false,
    removesContent: false,
  };
}

export class Element extends ContentToken {
  readonly #state: ElementState;

  constructor(state: ElementState) {
    super(state.start);
    this.#state = state;
  }

  #valid(): ElementState {
    requireChanges(this);
    return this.#state;
  }

  get tagName(): string {
    return this.#valid().name;
  }

  set tagName(name: string) {
    const state = this.#valid();
    state.tag.rename(`${name}`);
    state.name = `${name}`;
    state.isRenamed = true;
  }

  get attributes(): IterableIterator<[string, string]> {
    return this.#valid().tag.attributes().values();
  }

  get removed(): boolean {
    return this.#valid().start.isRemoved;
  }

  get namespaceURI(): string {
    return this.#valid().namespaceUri;
  }

  getAttribute(name: string): string | null {
    return this.#valid().tag.get(`${name}`) ?? null;
  }

  hasAttribute(name: string): boolean {
    return this.#valid().tag.get(`${name}`) !== undefined;
  }

  setAttribute(name: string, value: string): this {
    this.#valid().tag.set(`${name}`, `${value}`);
    return this;
  }

  removeAttribute(name: string): this {
    this.#valid().tag.remove(`${name}`);
    return this;
  }

  before(content: string, options?: ContentOptions | null): this {
    this.#valid().start.before += contentBytes(content, options);
    return this;
  }

  after(content: string, options?: ContentOptions | null): this {
    const { hasContent, start, end } = this.#valid();
    const tag = hasContent ? end : start;
    tag.after = contentBytes(content, options) + tag.after;
    return this;
  }

  /** prepend, append and setInnerContent have no effect on an element without content. */
  prepend(content: string, options?: ContentOptions | null): this {
    const { hasContent, start } = this.#valid();
    const bytes = contentBytes(content, options);
    if (hasContent) start.after = bytes + start.after;
    return this;
  }

  append(content: string, options?: ContentOptions | null): this {
    const { hasContent, end } = this.#valid();
    const bytes = contentBytes(content, options);
    if (hasContent) end.before += bytes;
    return this;
  }

  setInnerContent(content: string, options?: ContentOptions | null): this {
    const state = this.#valid();
    const bytes = contentBytes(content, options);
    if (state.hasContent) {
      dropContent(state);
      state.start.after = bytes;
    }
    return this;
  }

  replace(content: string, options?: ContentOptions | null): this {
    const state = this.#valid();
    const bytes = contentBytes(content, options);
    this.remove();
    state.start.replacement = bytes;
    return this;
  }

  remove(): this {
    const state = this.#valid();
    this.removeAndKeepContent();
    if (state.hasContent) dropContent(state);
    return this;
  }

  removeAndKeepContent(): this {
    const { start, end } = this.#valid();
    start.isRemoved = true;
    start.replacement = "";
    end.isRemoved = true;
    return this;
  }

  onEndTag(handler: EndTagHandler): void {
    const { hasContent, name, endTagHandlers } = this.#valid();
    if (typeof handler !== "function") throw new TypeError("onEndTag needs a function.");
    if (!hasContent)
      throw new TypeError(`<${name}> has no content and no end tag: onEndTag cannot be used on it.`);
    endTagHandlers.push(handler);
  }
}

function dropContent(state: ElementState): void {
  state.removesContent = true;
  state.start.after = "";
  state.end.before = "";
}
