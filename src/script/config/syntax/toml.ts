// Parses TOML, and explains syntax errors to readers who do not know TOML well.
import { parse, TomlError } from "smol-toml";
import { configError, type Fault, type SourceText, type Span } from "./error.ts";
import { depthFault, type ParsedConfig, TooDeep } from "./positions.ts";
import { scanTomlPositions } from "./toml-positions.ts";

export function parseToml(source: SourceText): ParsedConfig {
  try {
    return { value: parse(source.text), positions: scanTomlPositions(source.text) };
  } catch (error) {
    if (error instanceof TooDeep) throw configError(source, [depthFault(error.span)]);
    if (!(error instanceof TomlError)) throw error;
    throw configError(source, [syntaxFault(source.text, error)]);
  }
}

/** The position where the parser stopped, and the text around it. */
interface ParserStop {
  readonly text: string;
  readonly at: number;
  /** The line up to `at`, without leading spaces. */
  readonly before: string;
  /** The line from `at` to its end, or to a comment. */
  readonly rest: string;
}

type PartialFault = Omit<Fault, "span"> & { readonly span?: Span };

function syntaxFault(text: string, error: TomlError): Fault {
  const lines = text.split(/(?<=\n)/);
  const at = lines.slice(0, error.line - 1).join("").length + error.column - 1;
  const line = (lines[error.line - 1] ?? "").trimEnd();
  const before = line.slice(0, error.column - 1).trimStart();
  const rest = line
    .slice(error.column - 1)
    .replace(/(?<=\s)#.*/, "")
    .trim();
  const stop = { text, at, before, rest };
  const parserMessage = error.message.split("\n")[0]!.replace(/^Invalid TOML document: /, "");
  const fault = faultRules.find(([pattern]) => pattern.test(parserMessage))?.[1](stop) ?? {
    message: `This is not TOML: ${parserMessage}.`,
  };
  return { span: { start: at, end: at + tokenLength(rest) }, ...fault };
}

function tokenLength(rest: string): number {
  return Math.max(1, /^(?:[^\s=,[\]{}"'#]+|\s)/.exec(rest)?.[0].length ?? 1);
}

const faultRules: readonly (readonly [RegExp, (stop: ParserStop) => PartialFault])[] = [
  [/^invalid value/, notAValue],
  [/^unfinished string|^control characters are not allowed in strings/, openString],
  [/^control characters/, () => ({ message: "There is a control character here: remove it." })],
  [/^illegal character in key|cannot find end of key|^unexpected end of key|empty bare key/, notAKey],
  [
    /^illegal quoted key/,
    () => ({ message: "A key cannot be in triple quotes: write it in single or double quotes." }),
  ],
  [/^expected end of table array/, openHeader],
  [/^each key-value declaration/, afterValue],
  [/^trying to redefine/, duplicateKey],
  [/^expected comma|^unfinished (?:array|table)/, openList],
  [/escape/, badEscape],
  [/losslessly/, () => ({ message: "This number has more digits than can be kept.", hint: quoteIt })],
  [/date/, () => ({ message: "This date or time does not exist.", hint: "Write a date like 2026-11-01." })],
  [/leading zero/, () => ({ message: "A number does not begin with 0.", hint: quoteIt })],
  [/numeric|underscore/, ({ rest }) => ({ message: `"${rest}" is not a number.`, hint: quoteIt })],
];

const quoteIt = "If it is meant as text, put it in quotes.";

function notAValue(stop: ParserStop): PartialFault {
  const { before, at } = stop;
  // In a list or an inline table, the value ends at the next comma or bracket.
  const isWholeLine = /^[^=[{]*=\s*$/.test(before);
  const rest = isWholeLine ? stop.rest : stop.rest.replace(/(?<=.)[,\]}].*/, "").trimEnd();
  const key = before.replace(/=\s*$/, "").trimEnd();
  if (rest === "" && !before.trimEnd().endsWith("=")) return openList(stop);
  if (rest === "") return { message: "The value is missing.", hint: `Write: ${key} = "…"` };
  const span = { start: at, end: at + rest.length };
  if (/^[“”„‘’«]/.test(rest)) {
    return { message: "These are typographic quotes.", hint: `Use straight quotes: "`, span };
  }
  const word = rest.toLowerCase();
  if (word === "true" || word === "false") {
    return { message: `${rest} is written in lowercase.`, hint: `Write: ${key} = ${word}`, span };
  }
  const hint =
    word === "null"
      ? "TOML has no null: leave the key out."
      : `Write text in quotes: ${JSON.stringify(rest)}`;
  return { message: `${rest} is not a value.`, hint, span };
}

/** Explains an unclosed string. The parser stops at its quote or at the end of its line. */
function openString({ text, at, before }: ParserStop): PartialFault {
  const here = text[at];
  if (here !== '"' && here !== "'" && here !== "\n" && here !== "\r") {
    return {
      message: "There is a control character in this text.",
      hint: "Write it as an escape, such as \\t or \\u0000, in double quotes.",
    };
  }
  const quoteAt = here === '"' || here === "'" ? at : at - before.length + lastQuote(before);
  const line = text.slice(quoteAt).split(/\r?\n/, 1)[0]!;
  return {
    message: "The text that begins here does not end: its closing quote is missing.",
    hint: text.startsWith(text[quoteAt]!.repeat(3), quoteAt)
      ? `Close it with ${text[quoteAt]!.repeat(3)}.`
      : `Close it on the same line: ${line.trimEnd()}${text[quoteAt]}`,
    span: { start: quoteAt, end: quoteAt + line.length },
  };
}

function lastQuote(before: string): number {
  const quotes = [...before.matchAll(/(?<!\\)["']/g)];
  return quotes.at(-1)?.index ?? before.length - 1;
}

function notAKey(stop: ParserStop): PartialFault {
  const line = stop.before + stop.rest;
  if (line.startsWith("{")) {
    return {
      message: "This looks like JSON, and the file is read as TOML.",
      hint: "Name the file store.json or store.jsonc.",
    };
  }
  if (/^(?:\/\/|\/\*)/.test(line)) return { message: "This is not TOML.", hint: "A comment begins with #." };
  if (line.startsWith("[")) return openHeader(stop);
  const bare = /^[A-Za-z0-9_-]+(?=\s*:)/.exec(line)?.[0];
  if (bare !== undefined) {
    const value = line.slice(line.indexOf(":") + 1).trim();
    return {
      message: "Between a key and its value there is = and not a colon.",
      hint: `Write: ${bare} = ${value}`,
    };
  }
  if (line.startsWith("=")) return { message: "The key is missing before the =." };
  const [first = "", ...others] = line.split(/\s+/);
  if (/^[A-Za-z0-9_-]+$/.test(first) && !line.includes("=")) {
    const value = others.length === 0 ? '"…"' : others.join(" ");
    return { message: `There is no = after the key "${first}".`, hint: `Write: ${first} = ${value}` };
  }
  return {
    message: "A key cannot contain this: a key is letters, digits, dashes and underscores.",
    hint: 'Anything else goes in quotes: "my key" = …',
  };
}

function openHeader({ before, rest }: ParserStop): PartialFault {
  const name = /^\[+\s*([^\]\s]*)/.exec(before + rest)?.[1] ?? "";
  const isArray = (before + rest).startsWith("[[");
  return {
    message: "The table's name is not closed.",
    hint: `Write: ${isArray ? `[[${name}]]` : `[${name}]`}`,
  };
}

function afterValue({ rest, at }: ParserStop): PartialFault {
  return {
    message: "There is something after the value: write each key and its value on a line of its own.",
    hint: /^[\w-]+\s*=/.test(rest)
      ? "Begin a new line here."
      : "Remove it, or put the whole value in quotes.",
    span: { start: at, end: at + rest.length },
  };
}

function duplicateKey({ before, rest, at }: ParserStop): PartialFault {
  const name = /^[^=\]]*/.exec(rest)![0].trim();
  const span = { start: at, end: at + name.length };
  if (!before.startsWith("[")) {
    return { message: `The key "${name}" is written twice.`, hint: "Keep one of the two lines.", span };
  }
  return {
    message: `"${name}" is already written further up.`,
    hint:
      name === "store_buckets"
        ? "Write each bucket under [[store_buckets]], with two brackets."
        : `Put the lines of both under one [${name}].`,
    span,
  };
}

function openList({ text, at, rest }: ParserStop): PartialFault {
  if (at < text.length && rest !== "") {
    return { message: "There is a comma missing before this, or the bracket is not closed." };
  }
  const end = text.slice(0, at).trimEnd().length;
  return {
    message: "The file ends before the list or table is closed.",
    hint: "Close it with ] or }.",
    span: { start: Math.max(0, end - 1), end },
  };
}

function badEscape({ text, at }: ParserStop): PartialFault {
  const start = text.lastIndexOf("\\", at);
  const end = Math.max(at, start + 1);
  const span = { start, end: /["'\r\n]/.test(text[end] ?? "\n") ? end : end + 1 };
  const written = text.slice(span.start, span.end);
  return {
    message: `${written} means nothing in double quotes.`,
    hint: `For a backslash write \\\\, or use single quotes: 'C:\\files'`,
    span,
  };
}
