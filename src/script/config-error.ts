// What a fault in a configuration looks like to a person: where it is, the line with the token marked, what
// is wrong with it in plain words, and what to write instead.
import { relative } from "node:path";

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
  const whole = text.split("\n")[line - 1]!.replace(/\r$/, "");
  const end = Math.min(column - 1 + Math.max(1, span.end - span.start), Math.max(whole.length, column));
  const { shown, start, length } = windowed(whole, column - 1, end - column + 1);
  const number = String(line);
  const gutter = " ".repeat(number.length);
  const marks = blank(shown.slice(0, start)) + "^".repeat(widthOf(shown.slice(start, start + length)) || 1);
  return [
    `${shownPath(file)}:${line}:${column}: ${message}`,
    `  ${number} | ${shown}`.trimEnd(),
    `  ${gutter} | ${marks}`,
    ...(hint === undefined ? [] : hint.split("\n").map((words) => `  ${words}`)),
  ].join("\n");
}

const longestLine = 120;

/** A part of the line around the token when all of it would not fit. */
function windowed(line: string, start: number, length: number) {
  if (line.length <= longestLine) return { shown: line, start, length };
  const from = Math.max(0, Math.min(start - longestLine / 4, line.length - longestLine));
  const part = line.slice(from, from + longestLine);
  const lead = from > 0 ? "…" : "";
  const trail = from + longestLine < line.length ? "…" : "";
  return {
    shown: lead + part + trail,
    start: start - from + lead.length,
    length: Math.min(length, part.length - (start - from)),
  };
}

/** As wide as the text: tabs stay tabs, so that the mark is under its token whatever a tab is worth. */
function blank(text: string): string {
  return Array.from(text, (letter) => (letter === "\t" ? "\t" : " ".repeat(widthOf(letter)))).join("");
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const narrow = /\p{Mark}|\u200b|\u200d|\ufeff/u;

/** In the columns of a terminal. */
function widthOf(text: string): number {
  let width = 0;
  for (const letter of text) width += narrow.test(letter) ? 0 : wide.test(letter) ? 2 : 1;
  return width;
}
