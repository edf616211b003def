// Finds the position of each key and value in a TOML document. The document is already known to be
// valid, so this scanner only finds where tokens start and end.
import { parse } from "smol-toml";
import type { Span } from "./error.ts";
import { type ConfigPath, createPositions, maxDepth, type SourcePositions, TooDeep } from "./positions.ts";

interface Scanner {
  readonly text: string;
  readonly positions: SourcePositions;
  at: number;
}

interface Key {
  readonly name: string;
  readonly span: Span;
}

const space = /[ \t]*/y;
const trivia = /(?:[\s\ufeff]|#[^\n]*)*/y;
const string = /"""(?:\\[\s\S]|[^\\])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'/y;
const bareKey = /[A-Za-z0-9_-]+/y;
/** A bare value ends at the first space, except between a date and a time. */
const bareValue = /\d{4}-\d\d-\d\d \d\d:[\d:.]+(?:[Zz]|[+-]\d\d:\d\d)?|[^\s,\]}#]+/y;

export function scanTomlPositions(text: string): SourcePositions {
  const scanner: Scanner = { text, positions: createPositions({ start: 0, end: 0 }), at: 0 };
  /** Number of tables so far in each array of tables. */
  const counts = new Map<string, number>();
  let table: ConfigPath = [];
  for (take(scanner, trivia); scanner.at < text.length; take(scanner, trivia)) {
    const before = scanner.at;
    if (text[scanner.at] === "[") table = header(scanner, counts);
    else entry(scanner, table);
    // Unreachable for a valid document; prevents an endless loop otherwise.
    if (scanner.at === before) break;
  }
  return scanner.positions;
}

/** Advances past a match of the pattern at the current position, and returns its span. */
function take(scanner: Scanner, pattern: RegExp): Span {
  pattern.lastIndex = scanner.at;
  const start = scanner.at;
  scanner.at += pattern.exec(scanner.text)?.[0].length ?? 0;
  return { start, end: scanner.at };
}

function takeIf(scanner: Scanner, token: string): boolean {
  if (!scanner.text.startsWith(token, scanner.at)) return false;
  scanner.at += token.length;
  return true;
}

/** Reads a dotted key: `a."b c".d`. */
function keys(scanner: Scanner): Key[] {
  const found: Key[] = [];
  do {
    take(scanner, space);
    const isQuoted = /["']/.test(scanner.text[scanner.at] ?? "");
    const span = take(scanner, isQuoted ? string : bareKey);
    const written = scanner.text.slice(span.start, span.end);
    found.push({ name: isQuoted && written !== "" ? String(parse(`key = ${written}`).key) : written, span });
    if (found.length > maxDepth) throw new TooDeep(span);
    take(scanner, space);
  } while (takeIf(scanner, "."));
  return found;
}

/** Reads `[a.b]` or `[[a.b]]`; returns the path of the table. */
function header(scanner: Scanner, counts: Map<string, number>): ConfigPath {
  const start = scanner.at;
  takeIf(scanner, "[");
  const isArray = takeIf(scanner, "[");
  const names = keys(scanner);
  takeIf(scanner, isArray ? "]]" : "]");
  const whole = { start, end: scanner.at };
  let path: ConfigPath = [];
  for (const [i, { name, span }] of names.entries()) {
    const isLast = i === names.length - 1;
    path = [...path, name];
    if (!scanner.positions.has(path) || (isLast && !isArray)) {
      scanner.positions.set(path, { key: span, value: whole });
    }
    const id = JSON.stringify(path);
    if (isLast && isArray) counts.set(id, (counts.get(id) ?? 0) + 1);
    const count = counts.get(id);
    if (count !== undefined) path = [...path, count - 1];
    if (isLast && isArray) scanner.positions.set(path, { key: undefined, value: whole });
  }
  return path;
}

/** Reads `a.b = value`. */
function entry(scanner: Scanner, table: ConfigPath): void {
  let path = table;
  let last: Span | undefined;
  for (const { name, span } of keys(scanner)) {
    path = [...path, name];
    last = span;
    if (!scanner.positions.has(path)) scanner.positions.set(path, { key: span, value: span });
  }
  takeIf(scanner, "=");
  take(scanner, space);
  scanner.positions.set(path, { key: last, value: value(scanner, path) });
}

function value(scanner: Scanner, path: ConfigPath): Span {
  const start = scanner.at;
  if (path.length > maxDepth) throw new TooDeep({ start, end: start + 1 });
  if (takeIf(scanner, "[")) {
    items(scanner, "]", (index) => {
      const element = [...path, index];
      const span = value(scanner, element);
      scanner.positions.set(element, { key: undefined, value: span });
    });
  } else if (takeIf(scanner, "{")) {
    items(scanner, "}", () => entry(scanner, path));
  } else {
    take(scanner, /["']/.test(scanner.text[start] ?? "") ? string : bareValue);
  }
  return { start, end: scanner.at };
}

function items(scanner: Scanner, end: string, one: (index: number) => void): void {
  for (let index = 0; ; index++) {
    take(scanner, trivia);
    if (takeIf(scanner, end) || scanner.at >= scanner.text.length) return;
    one(index);
    take(scanner, trivia);
    if (!takeIf(scanner, ",")) {
      takeIf(scanner, end);
      return;
    }
  }
}
