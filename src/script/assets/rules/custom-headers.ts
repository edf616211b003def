// Applies the rules of `_headers` to a response.
import type { AssetRequest } from "../asset-request.ts";
import type { HeaderRule } from "./parse-headers.ts";
import { fillIn } from "./path-pattern.ts";

type HeaderPair = readonly [string, string];

/** A rule replaces headers set by the server, and appends to headers set by earlier rules. */
export function customHeaders(
  headers: Iterable<HeaderPair>,
  { host, pathname }: Pick<AssetRequest, "host" | "pathname">,
  rules: readonly HeaderRule[],
): HeaderPair[] {
  const result = new Map<string, string[]>();
  for (const [name, value] of headers) result.set(name, [...(result.get(name) ?? []), value]);
  const set = new Set<string>();
  for (const rule of rules) {
    const captures = rule.pattern.match(rule.isAbsolute ? `https://${hostname(host)}${pathname}` : pathname);
    if (captures === undefined) continue;
    for (const name of rule.remove) result.delete(name);
    for (const [name, value] of rule.set) {
      const before = set.has(name) ? (result.get(name) ?? []) : [];
      result.set(name, joinValues(name, before, fillIn(value, captures)));
      set.add(name);
    }
  }
  return [...result].flatMap(([name, values]) => values.map((value): HeaderPair => [name, value]));
}

/** Joins the values of one header with commas; each cookie remains a separate value. */
function joinValues(name: string, before: readonly string[], value: string): string[] {
  if (name === "set-cookie" || before.length === 0) return [...before, value];
  return [`${before.join(", ")}, ${value}`];
}

function hostname(host: string): string {
  return host.replace(/:\d*$/, "").toLowerCase();
}
