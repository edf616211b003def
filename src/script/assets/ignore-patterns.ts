// `.assetsignore`: patterns of files that are not served, in .gitignore syntax. As in git, a file
// in an ignored folder cannot be included again: the folder is skipped.
import type { RuleFault } from "./rules/rule-lines.ts";

export interface IgnorePatterns {
  readonly faults: readonly RuleFault[];
  /** `path` is relative, without outer slashes; none of its parent folders is ignored. */
  ignores(path: string, kind: "file" | "folder"): boolean;
}

interface Pattern {
  readonly expression: RegExp;
  readonly isNegated: boolean;
  readonly isForFolders: boolean;
}

export function parseIgnorePatterns(content: string): IgnorePatterns {
  const faults: RuleFault[] = [];
  const patterns = content.split("\n").flatMap((line, i): Pattern[] => {
    try {
      const pattern = parsePattern(line.replace(/\r$/, ""));
      return pattern === undefined ? [] : [pattern];
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      faults.push({ line: i + 1, message: `${JSON.stringify(line)} is not a valid pattern.` });
      return [];
    }
  });
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
  // Trailing spaces are removed, unless a backslash escapes them.
  const trimmed = line.replace(/(?<!\\)((?:\\\\)*) +$/, "$1");
  const isNegated = trimmed.startsWith("!");
  const text = isNegated ? trimmed.slice(1) : trimmed;
  const isForFolders = text.endsWith("/");
  const body = isForFolders ? text.slice(0, -1) : text;
  if (body === "") return undefined;
  // A slash before the end anchors the pattern; without one it applies at every depth.
  const isAnchored = body.includes("/");
  const source = segmentsSource(body.replace(/^\//, ""));
  return {
    expression: new RegExp(`^${isAnchored ? "" : "(?:.*/)?"}${source}$`, "su"),
    isNegated,
    isForFolders,
  };
}

/** `**` matches any number of folders when it is a whole segment. */
function segmentsSource(pattern: string): string {
  const segments = pattern.split("/");
  return segments.reduce((source, segment, i) => {
    const isLast = i === segments.length - 1;
    if (segment === "**") return `${source}${isLast ? ".+" : "(?:.*/)?"}`;
    return `${source}${segmentSource(segment)}${isLast ? "" : "/"}`;
  }, "");
}

function segmentSource(segment: string): string {
  const tokens = segment.match(/\\.|\[[!^]?\]?[^\]]*\]|\*+|./gsu) ?? [];
  return tokens.map(tokenSource).join("");
}

function tokenSource(token: string): string {
  if (token.startsWith("*")) return "[^/]*";
  if (token === "?") return "[^/]";
  if (token.length > 2 && token.startsWith("[")) {
    const isNegated = /^\[[!^]/.test(token);
    const members = token.slice(isNegated ? 2 : 1, -1).replace(/[\\\]^[|]/g, "\\$&");
    return `(?!/)[${isNegated ? "^" : ""}${members}]`;
  }
  const character = token.startsWith("\\") && token.length > 1 ? token.slice(1) : token;
  return character.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
