// What a fault in a configuration looks like to a person: where it is, the line with the token marked, what
// is wrong with it in plain words, and what to write instead.
import { relative } from "node:path";
import { faultText } from "./fault-text.ts";

/** From the first character to behind the last. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Fault {
  readonly span: Span;
  /** What is wrong, as a sentence. */
  readonly message: string;
  /** What to do about it; lines to paste are indented. */
  readonly hint?: string | undefined;
}

export interface SourceText {
  /** Absolute. */
  readonly file: string;
  readonly text: string;
}

/** The message is the whole text to print. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly LocatedFault[];

  constructor(message: string, faults: readonly LocatedFault[] = [], options?: ErrorOptions) {
    super(message, options);
    this.faults = faults;
  }
}

export interface LocatedFault {
  readonly file: string;
  /** From 1, as editors count. */
  readonly line: number;
  /** From 1, in UTF-16 units, as editors count. */
  readonly column: number;
  readonly message: string;
  readonly hint: string | undefined;
}

/** All the faults of a file, in its order. */
export function configError(source: SourceText, faults: readonly Fault[]): ConfigError {
  const inOrder = [...faults].sort((a, b) => a.span.start - b.span.start);
  const located = inOrder.map(({ span, message, hint }) => {
    const { line, column } = positionOf(source.text, span.start);
    return { file: source.file, line, column, message, hint };
  });
  return new ConfigError(inOrder.map((fault) => rendered(source, fault)).join("\n\n"), located);
}

export interface Position {
  readonly line: number;
  readonly column: number;
}

export function positionOf(text: string, offset: number): Position {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: before.at(-1)!.length + 1 };
}

/** Paths are shown as they would be typed here. */
export function shownPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path === "" || path.startsWith("..") ? file : path;
}

function rendered({ file, text }: SourceText, { span, message, hint }: Fault): string {
  const { line, column } = positionOf(text, span.start);
  const source = text.split("\n")[line - 1]!.replace(/\r$/, "");
  return faultText({
    path: shownPath(file),
    line,
    column,
    source,
    length: span.end - span.start,
    message,
    hint,
  });
}
