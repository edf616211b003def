// Tokens that handlers receive, except elements: text, comments, doctypes, end tags and the
// document end. A token is valid only while its handler runs; changes are written afterwards.
import { bytesFromText, escapeText } from "./encoding.ts";
import { checkName } from "./tag.ts";

export interface ContentOptions {
  readonly html?: boolean;
}

/** Insertions around a token and its replacement, as byte strings. */
export interface Changes {
  before: string;
  after: string;
  replacement: string;
  isRemoved: boolean;
}

export function noChanges(): Changes {
  return { before: "", after: "", replacement: "", isRemoved: false };
}

/** Returns the token's bytes with its insertions, or its replacement. */
export function applyChanges(raw: string, { before, after, replacement, isRemoved }: Changes): string {
  return before + (isRemoved ? replacement : raw) + after;
}

export function contentBytes(content: unknown, options?: ContentOptions | null): string {
  if (typeof content === "object" && content !== null) {
    throw new TypeError(
      "HTMLRewriter inserts strings: read a stream or a Response to its end first, with await response.text().",
    );
  }
  const text = `${content as string}`;
  return bytesFromText(options?.html === true ? text : escapeText(text));
}

let getChanges: (token: ContentToken) => Changes | undefined;
let clearChanges: (token: ContentToken) => void;

/** Base of all tokens. */
export class ContentToken {
  #changes: Changes | undefined;

  static {
    getChanges = (token) => token.#changes;
    clearChanges = (token) => {
      token.#changes = undefined;
    };
  }

  constructor(changes: Changes) {
    this.#changes = changes;
  }
}

/** Throws when a script uses a token after its handler has ended: the token is already written. */
export function requireChanges(token: ContentToken): Changes {
  const changes = getChanges(token);
  if (changes !== undefined) return changes;
  throw new TypeError("This part of the document can no longer be used: use it only while its handler runs.");
}

/** Call after the handler of the token has ended. */
export function invalidate(token: ContentToken): void {
  clearChanges(token);
}

/** A token that supports before and after. */
class InsertionToken extends ContentToken {
  before(content: string, options?: ContentOptions | null): this {
    requireChanges(this).before += contentBytes(content, options);
    return this;
  }

  after(content: string, options?: ContentOptions | null): this {
    const changes = requireChanges(this);
    changes.after = contentBytes(content, options) + changes.after;
    return this;
  }
}

/** A token that also supports replace and remove. */
class ReplaceableToken extends InsertionToken {
  get removed(): boolean {
    return requireChanges(this).isRemoved;
  }

  replace(content: string, options?: ContentOptions | null): this {
    const changes = requireChanges(this);
    changes.replacement = contentBytes(content, options);
    changes.isRemoved = true;
    return this;
  }

  remove(): this {
    const changes = requireChanges(this);
    changes.replacement = "";
    changes.isRemoved = true;
    return this;
  }
}

export class Text extends ReplaceableToken {
  readonly #text: string;
  readonly #isLast: boolean;

  constructor(changes: Changes, text: string, isLast: boolean) {
    super(changes);
    this.#text = text;
    this.#isLast = isLast;
  }

  get text(): string {
    requireChanges(this);
    return this.#text;
  }

  get lastInTextNode(): boolean {
    requireChanges(this);
    return this.#isLast;
  }
}

/** The text of a comment or the name of an end tag; `changed` is undefined while unchanged. */
export interface EditableText {
  readonly original: string;
  changed: string | undefined;
}

export class Comment extends ReplaceableToken {
  readonly #text: EditableText;

  constructor(changes: Changes, text: EditableText) {
    super(changes);
    this.#text = text;
  }

  get text(): string {
    requireChanges(this);
    return this.#text.changed ?? this.#text.original;
  }

  set text(value: string) {
    requireChanges(this);
    const text = `${value}`;
    if (/^-?>|--!?>/.test(text)) {
      throw new TypeError(`A comment cannot contain the end of a comment: ${JSON.stringify(text)}`);
    }
    this.#text.changed = text;
  }
}

export class Doctype extends ContentToken {
  readonly #parts: readonly [string | null, string | null, string | null];

  constructor(changes: Changes, raw: string) {
    super(changes);
    this.#parts = doctypeParts(raw);
  }

  get name(): string | null {
    requireChanges(this);
    return this.#parts[0];
  }

  get publicId(): string | null {
    requireChanges(this);
    return this.#parts[1];
  }

  get systemId(): string | null {
    requireChanges(this);
    return this.#parts[2];
  }
}

const doctypePattern =
  /^<!doctype\s*([^\s>]+)?(?:\s+(?:public\s*(?:"([^"]*)"|'([^']*)')|system))?\s*(?:"([^"]*)"|'([^']*)')?/i;

function doctypeParts(raw: string): [string | null, string | null, string | null] {
  const [, name, publicDouble, publicSingle, systemDouble, systemSingle] = doctypePattern.exec(raw) ?? [];
  return [
    name?.toLowerCase() ?? null,
    publicDouble ?? publicSingle ?? null,
    systemDouble ?? systemSingle ?? null,
  ];
}

export class EndTag extends InsertionToken {
  readonly #name: EditableText;

  constructor(changes: Changes, name: EditableText) {
    super(changes);
    this.#name = name;
  }

  get name(): string {
    requireChanges(this);
    return this.#name.changed ?? this.#name.original;
  }

  set name(value: string) {
    requireChanges(this);
    this.#name.changed = checkName(`${value}`, "tag");
  }

  remove(): this {
    requireChanges(this).isRemoved = true;
    return this;
  }
}

export class DocumentEnd extends ContentToken {
  append(content: string, options?: ContentOptions | null): this {
    requireChanges(this).before += contentBytes(content, options);
    return this;
  }
}
