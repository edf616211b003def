// Parsing shared by `_headers` and `_redirects`: lines, comments, limits, and URLs of rules.
import { URL } from "node:url";

export interface RuleFault {
  /** Line number, from 1. */
  readonly line: number;
  readonly message: string;
}

export interface RuleLine {
  readonly number: number;
  /** The line without surrounding spaces; never empty and never a comment. */
  readonly text: string;
}

/** Longer lines are reported as malformed. */
const maxLineLength = 2000;

export function ruleLines(content: string, faults: RuleFault[]): RuleLine[] {
  return content.split("\n").flatMap((raw, i): RuleLine[] => {
    const text = raw.trim();
    if (text === "" || text.startsWith("#")) return [];
    if (text.length <= maxLineLength) return [{ number: i + 1, text }];
    faults.push({ line: i + 1, message: `The line has more than ${maxLineLength} characters.` });
    return [];
  });
}

const absolute = /^https:\/\/+([^/]+)\/?(.*)/s;

export function isAbsolute(url: string): boolean {
  return absolute.test(url);
}

/** Percent-encodes the path as in a request, so that both can be compared; throws a RangeError. */
export function normalizePath(text: string, parts: "path" | "path, query and fragment"): string {
  const whole = `https://rules.invalid${text.startsWith("/") ? "" : "/"}${text}`;
  if (!URL.canParse(whole)) throw new RangeError(`${text} is not a valid path.`);
  const { pathname, search, hash } = new URL(whole);
  return parts === "path" ? pathname : `${pathname}${search}${hash}`;
}

/** Accepts a path, or an https: URL with a host; throws a RangeError. */
export function normalizeUrl(text: string, parts: "path" | "path, query and fragment"): string {
  const [, host, path] = absolute.exec(text) ?? [];
  if (host !== undefined) return `https://${host}${normalizePath(path ?? "", parts)}`;
  if (text.startsWith("/")) return normalizePath(text, parts);
  throw new RangeError(`${text} must begin with / or https://.`);
}
