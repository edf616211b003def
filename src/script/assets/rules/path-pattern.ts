// Path patterns of `_headers`, `_redirects` and `run_worker_first`. Clients choose the paths, so
// matching must not backtrack: its time is proportional to pattern times path.

export type Captures = ReadonlyMap<string, string>;

export interface PathPattern {
  /** Returns the text captured by each placeholder and by `*`; undefined without a match. */
  match(text: string): Captures | undefined;
}

interface Wildcard {
  readonly name: string;
  readonly minLength: 0 | 1;
  /** Characters that the wildcard does not match. */
  readonly stops: string;
}

type Token = string | Wildcard;

const placeholder = /:([A-Za-z]\w*)/g;
/** Each costs a pass over the path, for each of up to 100 rules. */
export const maxWildcards = 8;

/** Compiles `*` (captured as "splat") and `:placeholder`; throws a RangeError if invalid. */
export function compilePattern(pattern: string): PathPattern {
  const hostEnd = pattern.startsWith("https://") ? pattern.indexOf("/", "https://".length) : 0;
  const tokens: Token[] = [];
  const names = new Set<string>();
  let at = 0;
  for (const match of pattern.matchAll(/\*|:[A-Za-z]\w*/g)) {
    if (match.index > at) tokens.push(pattern.slice(at, match.index));
    at = match.index + match[0].length;
    const name = match[0] === "*" ? "splat" : match[0].slice(1);
    if (names.has(name)) throw new RangeError(repeatedMessage(name, pattern));
    names.add(name);
    if (names.size > maxWildcards)
      throw new RangeError(`${pattern} has more than ${maxWildcards} wildcards.`);
    if (match[0] === "*") tokens.push(splat);
    else tokens.push({ name, minLength: 1, stops: match.index < hostEnd ? "/." : "/" });
  }
  if (at < pattern.length) tokens.push(pattern.slice(at));
  return { match: (text) => matchTokens(tokens, text) };
}

/**
 * Returns whether a text matches a pattern with any number of `*`. The earliest place of each part
 * leaves the most for the next, so no other place is tried.
 */
export function compileGlob(pattern: string): (text: string) => boolean {
  const [first = "", ...parts] = pattern.split("*");
  const last = parts.pop();
  if (last === undefined) return (text) => text === pattern;
  return (text) => {
    if (!text.startsWith(first)) return false;
    let at = first.length;
    for (const part of parts) {
      const found = text.indexOf(part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return text.length - last.length >= at && text.endsWith(last);
  };
}

/** Replaces each placeholder in the text with its captured text. */
export function fillIn(text: string, captures: Captures): string {
  return text.replace(placeholder, (written, name: string) => captures.get(name) ?? written);
}

const splat: Wildcard = { name: "splat", minLength: 0, stops: "" };
const noCaptures: Captures = new Map();

function repeatedMessage(name: string, pattern: string): string {
  return name === "splat"
    ? `${pattern} has more than one wildcard: use one * and named placeholders, such as :project.`
    : `${pattern} has the placeholder :${name} twice: use different names.`;
}

function matchTokens(tokens: readonly Token[], text: string): Captures | undefined {
  const [first, second] = tokens;
  if (typeof first === "string" && !text.startsWith(first)) return undefined;
  if (tokens.length === 1 && typeof first === "string") return first === text ? noCaptures : undefined;
  // Fast path for the most frequent pattern: a prefix followed by `*`.
  if (tokens.length === 2 && typeof first === "string" && second === splat) {
    return new Map([["splat", text.slice(first.length)]]);
  }
  return matchInFull(tokens, text);
}

/** Each wildcard matches as much as possible. */
function matchInFull(tokens: readonly Token[], text: string): Captures | undefined {
  const ends = new Uint8Array(text.length + 1);
  ends[text.length] = 1;
  /** For each token: the positions from which this token and all later tokens match to the end. */
  const starts: Uint8Array[] = [ends];
  for (const token of [...tokens].reverse()) starts.unshift(computeStarts(token, text, starts[0]!));
  if (starts[0]![0] !== 1) return undefined;
  const captures = new Map<string, string>();
  let at = 0;
  for (const [i, token] of tokens.entries()) {
    const end = typeof token === "string" ? at + token.length : findEnd(token, text, at, starts[i + 1]!);
    if (typeof token !== "string") captures.set(token.name, text.slice(at, end));
    at = end;
  }
  return captures;
}

function computeStarts(token: Token, text: string, next: Uint8Array): Uint8Array {
  const starts = new Uint8Array(next.length);
  for (let at = text.length; at >= 0; at--) {
    if (typeof token === "string") {
      if (next[at + token.length] === 1 && text.startsWith(token, at)) starts[at] = 1;
      continue;
    }
    const isStop = at === text.length || token.stops.includes(text[at]!);
    const continues = !isStop && (starts[at + 1] === 1 || next[at + 1] === 1);
    if (continues || (token.minLength === 0 && next[at] === 1)) starts[at] = 1;
  }
  return starts;
}

function findEnd({ stops, minLength }: Wildcard, text: string, at: number, next: Uint8Array): number {
  let last = at;
  for (let end = at; end <= text.length; end++) {
    if (next[end] === 1 && end - at >= minLength) last = end;
    if (end < text.length && stops.includes(text[end]!)) break;
  }
  return last;
}
