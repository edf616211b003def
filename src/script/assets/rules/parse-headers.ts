// Parses `_headers`: a line with a path, followed by headers to set (`name: value`) or to remove
// (`! name`). Malformed lines are reported and have no effect.
import { Buffer } from "node:buffer";
import { compilePattern, type PathPattern } from "./path-pattern.ts";
import { normalizeUrl, type RuleFault, type RuleLine, ruleLines } from "./rule-lines.ts";

export interface HeaderRule {
  /** Matches a path, or a whole https: URL. */
  readonly pattern: PathPattern;
  readonly isAbsolute: boolean;
  /** Headers to set, by lower-case name. Values may contain placeholders of the pattern. */
  readonly set: ReadonlyMap<string, string>;
  readonly remove: readonly string[];
}

export interface ParsedHeaders {
  readonly rules: readonly HeaderRule[];
  readonly faults: readonly RuleFault[];
}

interface OpenRule {
  readonly line: number;
  readonly pattern: PathPattern;
  readonly isAbsolute: boolean;
  readonly set: Map<string, string>;
  readonly remove: string[];
}

const maxRules = 100;
const isPath = /^([^\s]+:\/\/|\/)/;
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Headers that only the server can set: they describe the message framing or the connection. */
const serverHeaders = /^(connection|content-length|keep-alive|te|trailer|transfer-encoding|upgrade)$/;

export function parseHeaders(content: string): ParsedHeaders {
  const faults: RuleFault[] = [];
  const rules: OpenRule[] = [];
  /** Undefined after a malformed path: the headers below it are skipped without more reports. */
  let rule: OpenRule | undefined | "none yet" = "none yet";

  function read(line: RuleLine): void {
    if (isPath.test(line.text)) {
      rule = undefined;
      if (rules.length >= maxRules) throw new RangeError(`There can be at most ${maxRules} rules.`);
      rule = openRule(line);
      rules.push(rule);
    } else if (rule === "none yet") {
      throw new RangeError("A path must come first, such as /* or /static/*.");
    } else if (rule !== undefined) addHeader(rule, line.text);
  }

  for (const line of ruleLines(content, faults)) {
    try {
      read(line);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      faults.push({ line: line.number, message: error.message });
    }
  }
  const isEmpty = ({ set, remove }: OpenRule) => set.size === 0 && remove.length === 0;
  for (const { line } of rules.filter(isEmpty)) {
    faults.push({ line, message: "The path has no headers under it." });
  }
  return { rules: rules.filter((one) => !isEmpty(one)), faults: faults.sort((a, b) => a.line - b.line) };
}

function openRule({ number, text }: RuleLine): OpenRule {
  const url = normalizeUrl(text, "path");
  const isAbsolute = url.startsWith("https://");
  if (isAbsolute && /^https:\/\/[^/]*:\d+\//.test(url)) {
    throw new RangeError(`${text} names a port: rules apply to every port.`);
  }
  return { line: number, pattern: compilePattern(url), isAbsolute, set: new Map(), remove: [] };
}

function addHeader({ set, remove }: OpenRule, text: string): void {
  const colon = text.indexOf(":");
  if (colon === -1 && text.startsWith("! ")) {
    remove.push(headerName(text.slice(2).trim()));
    return;
  }
  if (colon === -1) throw new RangeError('A header is written "name: value", or "! name" to remove it.');
  const name = headerName(text.slice(0, colon).trim());
  const value = text.slice(colon + 1).trim();
  if (value === "") throw new RangeError(`The header ${name} has no value.`);
  if (/[^\t\x20-\x7e\x80-\u{10ffff}]/u.test(value)) {
    throw new RangeError(`The value of the header ${name} has a control character.`);
  }
  // Encodes the value as UTF-8 bytes, one character per byte, as node:http expects.
  const bytes = Buffer.from(value, "utf8").toString("latin1");
  const before = set.get(name);
  set.set(name, before === undefined ? bytes : `${before}, ${bytes}`);
}

function headerName(text: string): string {
  const name = text.toLowerCase();
  if (!token.test(name)) throw new RangeError(`${JSON.stringify(text)} is not the name of a header.`);
  if (serverHeaders.test(name))
    throw new RangeError(`The header ${name} cannot be changed: the server sets it.`);
  return name;
}
