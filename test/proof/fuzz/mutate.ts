// Makes hostile inputs from valid ones: flips bits, cuts, duplicates, moves and splices pieces, and
// inserts tokens that parsers often mishandle.
import type { Random } from "../../support/random.ts";
import type { Target } from "./target.ts";

const numbers = [
  ...["0", "1", "-1", "-0", "00", "01", "1e3", "1e400", "0x10", ".5", "1.5", " 1", "+1", "Infinity"],
  ...["127", "255", "256", "1000", "1001", "1024", "1025", "9999", "10000", "10001", "65535", "65536"],
  ...["2147483647", "2147483648", "4294967295", "4294967296", "9007199254740991", "9007199254740992"],
  ...["9223372036854775807", "18446744073709551616", "9".repeat(40), "9".repeat(400)],
];

const letters = [
  ...["\0", "\r", "\n", "\r\n", "\r\n\r\n", "\t", " ", "    ", "\x7f", "\x1b", "\x80", "\xff", "\ufeff"],
  ...[
    "ü",
    "ß",
    "İ",
    "\u2028",
    "\u200d",
    "\ud800",
    "\udfff",
    "\ud83d\ude00",
    "\uffff",
    "\u{10ffff}",
    "e\u0301",
  ],
  ...["%00", "%0d%0a", "%2e%2e", "%2F", "%ff", "%zz", "%", "..", "/", "//", "\\", '\\"', '"', "'", "`"],
  ...[",", ";", ":", "=", "&", "?", "#", "*", "+", "-", "~", "$", "(", ")", "[", "]", "{", "}", "<", ">"],
  ...["__proto__", "constructor", "toString", "null", "true", "$" + "{filename}"],
];

/** Returns the target's tokens; in the bytes form, characters above U+00FF become UTF-8 bytes. */
export function tokensFor({ tokens = [], form, samples }: Target): readonly string[] {
  const all = [...numbers, ...letters, ...tokens, ...tokens, ...samples];
  return form === "text" ? all : all.map((token) => (/[^\x00-\xff]/.test(token) ? utf8(token) : token));
}

function utf8(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

interface Mutating {
  readonly random: Random;
  readonly tokens: readonly string[];
  /** Tokens of the target without the common tokens. */
  readonly own: readonly string[];
  readonly corpus: readonly string[];
  readonly top: number;
  readonly longest: number;
}

type Mutation = (text: string, mutating: Mutating) => string;

function span(text: string, random: Random): [from: number, to: number] {
  const from = random.below(text.length + 1);
  const most = random.below(4) === 0 ? text.length - from : Math.min(16, text.length - from);
  return [from, from + random.below(most + 1)];
}

/** Returns a random insertion point; ends of lines and of the text are more likely. */
function spot(text: string, random: Random): number {
  const at = random.below(text.length + 1);
  const kind = random.below(6);
  if (kind === 0) return text.length;
  const end = kind === 1 ? text.indexOf("\n", at) : at;
  return end === -1 ? text.length : end;
}

function replaced(text: string, from: number, to: number, by: string): string {
  return text.slice(0, from) + by + text.slice(to);
}

function aLetter({ random, top }: Mutating): string {
  return String.fromCharCode(random.below(random.below(3) === 0 ? top : 128));
}

const mutations: readonly Mutation[] = [
  function flipBit(text, { random, top }) {
    if (text === "") return text;
    const at = random.below(text.length);
    const bit = 1 << random.below(top > 256 ? 16 : 8);
    return replaced(text, at, at + 1, String.fromCharCode(text.charCodeAt(at) ^ bit));
  },
  function setLetter(text, mutating) {
    const at = mutating.random.below(text.length + 1);
    return replaced(text, at, at + 1, aLetter(mutating));
  },
  function insertToken(text, { random, tokens }) {
    const at = spot(text, random);
    return replaced(text, at, at, random.pick(tokens));
  },
  function replaceByToken(text, { random, tokens }) {
    return replaced(text, ...span(text, random), random.pick(tokens));
  },
  function cut(text, { random }) {
    return replaced(text, ...span(text, random), "");
  },
  function truncate(text, { random }) {
    return text.slice(0, random.below(text.length + 1));
  },
  function double(text, { random }) {
    const [from, to] = span(text, random);
    return replaced(text, to, to, text.slice(from, to));
  },
  function move(text, { random }) {
    const [from, to] = span(text, random);
    const at = random.below(from + 1);
    return text.slice(0, at) + text.slice(from, to) + text.slice(at, from) + text.slice(to);
  },
  function splice(text, { random, corpus }) {
    const other = random.pick(corpus);
    return text.slice(0, random.below(text.length + 1)) + other.slice(random.below(other.length + 1));
  },
  function setNumber(text, { random }) {
    const found = /\d+/g;
    found.lastIndex = random.below(text.length + 1);
    const match = found.exec(text);
    if (match === null) return text;
    return replaced(text, match.index, match.index + match[0].length, random.pick(numbers));
  },
  function setEveryNumber(text, { random }) {
    const from = random.below(text.length + 1);
    const number = random.pick(numbers);
    return text.slice(0, from) + text.slice(from).replace(/\d+/g, number);
  },
  function turnCase(text, { random }) {
    const [from, to] = span(text, random);
    const part = text.slice(from, to);
    return replaced(text, from, to, random.below(2) === 0 ? part.toUpperCase() : part.toLowerCase());
  },
];

/** Repeats a piece many times, to expose quadratic parsers. */
function lengthened(text: string, { random, tokens, own, longest }: Mutating): string {
  const [from, to] = span(text, random);
  const kind = random.below(3);
  const piece = kind === 0 && to > from ? text.slice(from, to) : random.pick(kind === 1 ? own : tokens);
  if (piece === "") return text;
  const times = Math.floor(random.below(longest) / piece.length);
  const at = spot(text, random);
  return replaced(text, at, at, piece.repeat(times));
}

/** One input in this many is made very long. */
const rarely = 1000;

export type Mutator = (corpus: readonly string[]) => string;

export function createMutator(target: Target, random: Random): Mutator {
  const { form, longest = 65_536 } = target;
  const tokens = tokensFor(target);
  const own = target.tokens ?? tokens;
  const top = form === "bytes" ? 0x100 : 0x10000;
  return (corpus) => {
    const mutating = { random, tokens, own, corpus, top, longest };
    let text = random.pick(corpus);
    const isLong = random.below(rarely) === 0;
    // Half of the long inputs are otherwise valid, so that they get far into the parser.
    if (isLong && random.below(2) === 0) return lengthened(text, mutating).slice(0, longest);
    for (let left = 1 + random.below(random.below(4) === 0 ? 8 : 2); left > 0; left--) {
      text = random.pick(mutations)(text, mutating);
    }
    if (isLong) text = lengthened(text, mutating);
    // Changing the case of a character can produce a character above U+00FF.
    if (form === "bytes" && /[^\x00-\xff]/.test(text)) text = text.replace(/[^\x00-\xff]/g, utf8);
    return text.length > longest ? text.slice(0, longest) : text;
  };
}
