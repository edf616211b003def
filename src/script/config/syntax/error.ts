// Faults in a configuration as users see them: the position, the line with the token marked, what
// is wrong, and what to write instead.
import { relative } from "node:path";
import process from "node:process";
import { redactConfigLine, withoutPasswords } from "../../../model/names/location.ts";
import { faultText } from "./code-frame.ts";

/** Offsets in the text; `end` is the offset after the last character. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Fault {
  readonly span: Span;
  /** The fault, as a sentence. */
  readonly message: string;
  /** What to do; lines to paste are indented. */
  readonly hint?: string | undefined;
}

export interface SourceText {
  /** Absolute path. */
  readonly file: string;
  readonly text: string;
}

/** `message` is the complete text to print. */
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
  /** Line number from 1, as in editors. */
  readonly line: number;
  /** Column from 1 in UTF-16 code units, as in editors. */
  readonly column: number;
  readonly message: string;
  readonly hint: string | undefined;
}

/** Faults beyond this number are counted but not shown. */
export const maxFaults = 25;

/** Combines the faults of a file into one error, in file order. */
export function configError(source: SourceText, faults: readonly Fault[]): ConfigError {
  const all = [...faults].sort((a, b) => a.span.start - b.span.start);
  const inOrder = all.slice(0, maxFaults).map((fault) => withoutSecrets(source, fault));
  const located = inOrder.map(({ span, message, hint }) => {
    const { line, column } = toLineColumn(source.text, span.start);
    return { file: source.file, line, column, message, hint };
  });
  const texts = inOrder.map((fault) => renderFault(source, fault));
  if (all.length > maxFaults) texts.push("There are more errors: fix these to see the next ones.");
  return new ConfigError(texts.join("\n\n"), located);
}

export interface LineColumn {
  readonly line: number;
  readonly column: number;
}

export function toLineColumn(text: string, offset: number): LineColumn {
  let line = 1;
  let start = 0;
  for (let end = text.indexOf("\n"); end !== -1 && end < offset; end = text.indexOf("\n", start)) {
    line++;
    start = end + 1;
  }
  return { line, column: Math.min(offset, text.length) - start + 1 };
}

/** Formats a path as the user would type it in the current directory. */
export function displayPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path === "" || path.startsWith("..") ? file : path;
}

/** Removes secrets from a hint, which may quote a database URL with its password. */
function withoutSecrets({ text }: SourceText, fault: Fault): Fault {
  const line = lineAt(text, fault.span.start);
  const redactedLine = redactConfigLine(line);
  const secrets = Array.from(redactedLine.matchAll(/•+/g), ({ 0: run, index }) =>
    line.slice(index, index + run.length),
  );
  const redact = (words: string) =>
    withoutPasswords(
      secrets.reduce((left, secret) => left.replaceAll(secret, "•".repeat(secret.length)), words),
    );
  const { span, message, hint } = fault;
  return { span, message: redact(message), hint: hint === undefined ? undefined : redact(hint) };
}

function lineAt(text: string, offset: number): string {
  const { column } = toLineColumn(text, offset);
  const start = Math.min(offset, text.length) - column + 1;
  return text.slice(start).split("\n", 1)[0]!.replace(/\r$/, "");
}

function renderFault({ file, text }: SourceText, { span, message, hint }: Fault): string {
  const { line, column } = toLineColumn(text, span.start);
  const source = redactConfigLine(lineAt(text, span.start));
  return faultText({
    path: displayPath(file),
    line,
    column,
    source,
    length: span.end - span.start,
    message,
    hint,
  });
}
