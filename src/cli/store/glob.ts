// Patterns of keys and file names: * and ? match within a folder, ** across folders, [abc] one of
// the characters. A backslash takes the next character literally.
import type { Option, ParsedOptions } from "../framework/command.ts";
import { usageError } from "../framework/command-error.ts";

export function isPattern(text: string): boolean {
  return /(?<!\\)[*?[]/.test(text);
}

/** Splits a pattern into the literal folder before its first wildcard, and the rest. */
export function splitPattern(text: string): {
  readonly prefix: string;
  readonly pattern: string | undefined;
} {
  const wildcard = text.search(/(?<!\\)[*?[]/);
  if (wildcard === -1) return { prefix: unescapePattern(text), pattern: undefined };
  const folder = text.lastIndexOf("/", wildcard) + 1;
  return { prefix: unescapePattern(text.slice(0, folder)), pattern: text.slice(folder) };
}

function unescapePattern(text: string): string {
  return text.replaceAll(/\\([*?[\\])/g, "$1");
}

const maxPatternLength = 1024;

export function compilePattern(text: string): (name: string) => boolean {
  if (text === "" || text.length > maxPatternLength) {
    throw usageError(`A pattern has 1 to ${maxPatternLength} characters.`);
  }
  const parts = [...text.matchAll(/\\(.)|\*\*\/?|\*|\?|\[([!^]?)([^\]]+)\]|(.)/gsu)].map((match) => {
    const [whole, escaped, negation, letters, literal] = match;
    if (whole.startsWith("**")) return whole === "**/" ? "(?:.*/)?" : ".*";
    if (whole === "*") return "[^/]*";
    if (whole === "?") return "[^/]";
    if (letters !== undefined)
      return `[${negation === "" ? "" : "^"}${letters.replaceAll(/[\\\]^[&]/g, "\\$&")}]`;
    return (escaped ?? literal ?? "").replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  });
  try {
    const expression = new RegExp(`^${parts.join("")}$`, "su");
    return (name) => expression.test(name);
  } catch {
    throw usageError(`"${text}" is not a valid pattern.`, "For example: *.jpg or 2026/**/*.png");
  }
}

export const filterOptions = {
  include: { value: "PATTERN", summary: "only names that match, such as *.jpg", repeatable: true },
  exclude: { value: "PATTERN", summary: "no names that match; wins over --include", repeatable: true },
} as const satisfies Readonly<Record<string, Option>>;

export type NameFilter = (name: string) => boolean;

/** A pattern without a slash is compared with the last part of the name, otherwise with all of it. */
export function parseFilter(options: ParsedOptions): NameFilter {
  const [included, excluded] = ["include", "exclude"].map((option) =>
    options.texts(option).map((text) => {
      const matches = compilePattern(text);
      const isWhole = text.includes("/");
      return (name: string) => matches(isWhole ? name : name.slice(name.lastIndexOf("/") + 1));
    }),
  );
  return (name) =>
    (included!.length === 0 || included!.some((matches) => matches(name))) &&
    !excluded!.some((matches) => matches(name));
}
