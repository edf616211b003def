// Parses dotenv files: NAME=value lines, comments, quoted values over several lines, and "export"
// before a name. Any other line is reported with its position.
import { configError, type Fault, type SourceText } from "../syntax/error.ts";

export interface DotenvEntry {
  readonly name: string;
  readonly value: string;
  /** Offset of the name in the text. */
  readonly start: number;
}

const space = /[ \t]*/y;
const blank = /[ \t\ufeff]*(?:#[^\r\n]*)?(?:\r?\n|\r|$)/y;
const exported = /export[ \t]+/y;
const nameShape = /[\w.-]+/y;
const separator = /[ \t]*=|:[ \t]/y;
const bareValue = /[^#\r\n]*/y;
const lineEnd = /[ \t]*(?:#[^\r\n]*)?(?:\r?\n|\r|$)/y;
const maxFaults = 25;

export function parseDotenv(source: SourceText): readonly DotenvEntry[] {
  const { text } = source;
  const entries: DotenvEntry[] = [];
  const faults: Fault[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };

  while (at < text.length && faults.length < maxFaults) {
    if (take(blank) !== undefined) continue;
    take(space);
    take(exported);
    const start = at;
    const name = take(nameShape);
    const value = name === undefined || take(separator) === undefined ? undefined : takeValue();
    if (typeof value === "string" && name !== "__proto__") {
      entries.push({ name: name!, value, start });
      continue;
    }
    faults.push(value !== undefined && typeof value !== "string" ? value : lineFault(text, start, name));
    at = endOfLine(text, at);
  }
  if (faults.length > 0) throw configError(source, faults);
  return entries;

  function takeValue(): string | Fault {
    take(space);
    const quote = text[at];
    if (quote !== '"' && quote !== "'" && quote !== "`") {
      const value = take(bareValue)!.trim();
      take(lineEnd);
      return value;
    }
    const opening = at;
    const closing = findClosingQuote(text, at + 1, quote);
    if (closing === -1) {
      return {
        span: { start: opening, end: endOfLine(text, opening) },
        message: "The value that begins here does not end: its closing quote is missing.",
        hint: `Close it with ${quote}, or write the value without quotes.`,
      };
    }
    at = closing + 1;
    const rest = at;
    if (take(lineEnd) === undefined) {
      return {
        span: { start: rest, end: endOfLine(text, rest) },
        message: "There is something after the closing quote.",
        hint: "Remove it, or write a comment with # before it.",
      };
    }
    const inner = text.slice(opening + 1, closing);
    return quote === '"' ? inner.replaceAll("\\n", "\n").replaceAll("\\r", "\r") : inner;
  }
}

/** A backslash before a quote makes the quote part of the value. */
function findClosingQuote(text: string, from: number, quote: string): number {
  for (let at = text.indexOf(quote, from); at !== -1; at = text.indexOf(quote, at + 1)) {
    if (text[at - 1] !== "\\") return at;
  }
  return -1;
}

function endOfLine(text: string, from: number): number {
  const end = text.slice(from).search(/[\r\n]/);
  return end === -1 ? text.length : from + end;
}

function lineFault(text: string, start: number, name: string | undefined): Fault {
  const span = { start, end: Math.max(start + 1, endOfLine(text, start)) };
  if (name === "__proto__") {
    return { span, message: 'A variable cannot be called "__proto__".', hint: "Give it another name." };
  }
  const hint = `Write: ${name ?? "NAME"}=value, or begin the line with # to make it a comment.`;
  return { span, message: "This line is not of the form NAME=value.", hint };
}

/** Replaces `$NAME`, `${NAME}` and `${NAME:-default}` with values; `\$` is a dollar sign. */
export function expandDotenv(values: Readonly<Record<string, string>>): Record<string, string> {
  const expanded = new Map<string, string>();
  const expand = (name: string, depth: number): string => {
    const cached = expanded.get(name);
    if (cached !== undefined) return cached;
    const text = Object.hasOwn(values, name) ? values[name]! : "";
    // Stops expanding names that refer to each other in a circle.
    if (depth > 20) return text;
    const value = text.replace(
      /\\\$|\$\{(\w+)(?::?-([^}]*))?\}|\$(\w+)/g,
      (whole, braced?: string, fallback?: string, plain?: string) => {
        const other = braced ?? plain;
        if (other === undefined || other === name) return whole === "\\$" ? "$" : whole;
        return Object.hasOwn(values, other) ? expand(other, depth + 1) : (fallback ?? "");
      },
    );
    if (depth === 0) expanded.set(name, value);
    return value;
  };
  return Object.fromEntries(Object.keys(values).map((name) => [name, expand(name, 0)]));
}
