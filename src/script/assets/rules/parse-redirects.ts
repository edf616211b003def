// Parses `_redirects`: one rule per line, `from to [status]`. Malformed lines are reported and have
// no effect.
import type { AssetsOptions } from "../../bindings.ts";
import { compilePattern, type PathPattern } from "./path-pattern.ts";
import {
  isAbsolute,
  normalizePath,
  normalizeUrl,
  type RuleFault,
  type RuleLine,
  ruleLines,
} from "./rule-lines.ts";

export interface Redirect {
  /** The target; may contain placeholders of the pattern: `/news/:splat`. */
  readonly to: string;
  /** With status 200 the target is served without a redirect. */
  readonly status: number;
}

export interface Redirects {
  readonly static: ReadonlyMap<string, Redirect>;
  readonly dynamic: readonly (Redirect & { readonly pattern: PathPattern })[];
}

export interface ParsedRedirects extends Redirects {
  readonly faults: readonly RuleFault[];
}

const maxStatic = 2000;
const maxDynamic = 100;
const statuses = [200, 301, 302, 303, 307, 308];

type HtmlHandling = AssetsOptions["htmlHandling"];

export function parseRedirects(content: string, htmlHandling: HtmlHandling): ParsedRedirects {
  const faults: RuleFault[] = [];
  const fixed = new Map<string, Redirect>();
  const dynamic: (Redirect & { readonly pattern: PathPattern })[] = [];
  const seen = new Set<string>();

  function add({ text }: RuleLine): void {
    const { from, to, status } = parseRule(text, htmlHandling);
    if (seen.has(from)) throw new RangeError(`There is a rule for ${from} above: the first one applies.`);
    const isDynamic = /\*|:[A-Za-z]/.test(from);
    // After the first wildcard rule, file order matters, so all rules go into the dynamic list.
    if (!isDynamic && dynamic.length === 0) {
      if (fixed.size >= maxStatic) throw new RangeError(tooMany(maxStatic, "rules without wildcards"));
      fixed.set(from, { to, status });
    } else {
      if (dynamic.length >= maxDynamic)
        throw new RangeError(tooMany(maxDynamic, "rules with wildcards, and after one"));
      dynamic.push({ to, status, pattern: compilePattern(from) });
    }
    seen.add(from);
  }

  for (const line of ruleLines(content, faults)) {
    try {
      add(line);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      faults.push({ line: line.number, message: error.message });
    }
  }
  return { static: fixed, dynamic, faults: faults.sort((a, b) => a.line - b.line) };
}

interface Rule extends Redirect {
  readonly from: string;
}

function parseRule(text: string, htmlHandling: HtmlHandling): Rule {
  // A comment has a space before its #; a fragment does not.
  const words = text.replace(/\s+#.*$/, "").split(/\s+/);
  if (words.length !== 2 && words.length !== 3) {
    throw new RangeError(`A rule has two or three words, "from to [status]", not ${words.length}.`);
  }
  const [written = "", target = "", code = "302"] = words;
  if (isAbsolute(written)) throw new RangeError(`${written} must be a path: rules apply to every host.`);
  const from = normalizePath(written, "path");
  const to = normalizeUrl(target, "path, query and fragment");
  const status = /^\d+$/.test(code) ? Number(code) : 0;
  if (!statuses.includes(status)) {
    throw new RangeError(`The status must be one of ${statuses.join(", ")} (default: 302), not ${code}.`);
  }
  if (status === 200 && isAbsolute(to)) {
    throw new RangeError("A rule with status 200 serves an asset: its target must be a path.");
  }
  if (isLoop(from, to, htmlHandling)) {
    throw new RangeError(
      `The rule never ends: html_handling redirects ${to} to a path that matches it again.`,
    );
  }
  return { from, to, status };
}

function isLoop(from: string, to: string, htmlHandling: HtmlHandling): boolean {
  if (isAbsolute(to) || !/\/index(\.html)?$/.test(to)) return false;
  return from.endsWith("/*") || (from.endsWith("/") && htmlHandling !== "none");
}

function tooMany(max: number, what: string): string {
  return `There can be at most ${max} ${what}.`;
}
