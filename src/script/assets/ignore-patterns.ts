// `.assetsignore`: patterns of files that are not served, in .gitignore syntax. As in git, a file
// in an ignored folder cannot be included again: the folder is skipped.
import type { RuleFault } from "./rules/rule-lines.ts";

export interface IgnorePatterns {
  readonly faults: readonly RuleFault[];
  /** `path` is relative, without outer slashes; none of its parent folders is ignored. */
  ignores(path: string, kind: "file" | "folder"): boolean;
}

/** Each is compared with each file when the folder is read. */
export const maxPatterns = 1000;
const maxLineLength = 1000;

interface Pattern {
  readonly expression: RegExp;
  readonly isNegated: boolean;
  readonly isForFolders: boolean;
}

export function parseIgnorePatterns(content: string): IgnorePatterns {
  const faults: RuleFault[] = [];
  const patterns: Pattern[] = [];
  for (const [i, line] of content.split("\n").entries()) {
    try {
      const pattern = parsePattern(line.replace(/\r$/, ""));
      if (pattern === undefined) continue;
      if (patterns.length === maxPatterns) {
        faults.push({ line: i + 1, message: `There can be at most ${maxPatterns} patterns.` });
        break;
      }
      patterns.push(pattern);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      const shown = JSON.stringify(line.slice(0, maxLineLength));
      faults.push({ line: i + 1, message: `${shown} is not a valid pattern.` });
    }
  }
  return {
    faults,
    ignores(path, kind) {
      const last = patterns.findLast(
        ({ expression, isForFolders }) => (!isForFolders || kind === "folder") && expression.test(path),
      );
      return last !== undefined && !last.isNegated;
    },
  };
}

function parsePattern(line: string): Pattern | undefined {
  if (line.startsWith("#")) return undefined;
  if (line.length > maxLineLength) throw new SyntaxError("The line is too long.");
  // Trailing spaces are removed, unless a backslash escapes them.
  const trimmed = line.replace(/(?<!\\)((?:\\\\)*) +$/, "$1");
  const isNegated = trimmed.startsWith("!");
  const text = isNegated ? trimmed.slice(1) : trimmed;
  const isForFolders = text.endsWith("/");
  const body = isForFolders ? text.slice(0, -1) : text;
  if (body === "") return undefined;
  // A slash before the end anchors the pattern; without one it applies at every depth.
  const segments = body.replace(/^\//, "").split("/");
  const source = segmentsSource(body.includes("/") ? segments : ["**", ...segments]);
  return { expression: new RegExp(`^${source}$`, "su"), isNegated, isForFolders };
}

/** `**` matches any number of folders when it is a whole segment. */
function segmentsSource(segments: readonly string[]): string {
  const groups = new Groups();
  let source = "";
  let at = 0;
  for (; at < segments.length && segments[at] !== "**"; at++)
    source += segmentSource(segments[at]!, groups) + (at < segments.length - 1 ? "/" : "");
  while (at < segments.length) {
    if (at === segments.length - 1) return `${source}.+`;
    const next = segments.indexOf("**", at + 1);
    const end = next === -1 ? segments.length : next;
    const folders = segments.slice(at + 1, end).map((segment) => segmentSource(segment, groups));
    if (end === segments.length) return `${source}(?:.*/)?${folders.join("/")}`;
    if (folders.length > 0) source += groups.earliest(`(?:[^/]*/)*?${folders.join("/")}/`);
    at = end;
  }
  return source;
}

/**
 * Parts of an expression that match at the earliest place and try no other: it leaves the most for
 * what follows. Names of files and patterns may be made so that trying all places never ends.
 */
class Groups {
  #count = 0;

  earliest(source: string): string {
    const name = `g${this.#count++}`;
    return `(?=(?<${name}>${source}))\\k<${name}>`;
  }
}

function segmentSource(segment: string, groups: Groups): string {
  const tokens = segment.match(/\\.|\[[!^]?\]?[^\]]*\]|\*+|./gsu) ?? [];
  const parts: string[] = [""];
  for (const token of tokens) {
    if (token.startsWith("*")) parts.push("");
    else parts.push(parts.pop()! + tokenSource(token));
  }
  const [first = "", ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return first;
  const between = rest.filter((part) => part !== "").map((part) => groups.earliest(`[^/]*?${part}`));
  return `${first}${between.join("")}[^/]*${last}(?![^/])`;
}

function tokenSource(token: string): string {
  if (token === "?") return "[^/]";
  if (token.length > 2 && token.startsWith("[")) {
    const isNegated = /^\[[!^]/.test(token);
    const members = token.slice(isNegated ? 2 : 1, -1).replace(/[\\\]^[|]/g, "\\$&");
    return `(?!/)[${isNegated ? "^" : ""}${members}]`;
  }
  const character = token.startsWith("\\") && token.length > 1 ? token.slice(1) : token;
  return character.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
