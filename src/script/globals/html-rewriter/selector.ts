// CSS selectors: parsed once, matched from right to left against an element and its ancestors.
import { bytesFromText, lowerCase } from "./encoding.ts";
import { findAttribute, type ScannedTag } from "./tag.ts";

export interface Subject {
  readonly tag: ScannedTag;
  /** Index among all children from 1; `typeIndex` counts only siblings of the same name. */
  readonly childIndex: number;
  readonly typeIndex: number;
}

export interface Selector {
  /** `ancestors` are ordered from the outermost to the parent. */
  matches(subject: Subject, ancestors: readonly Subject[]): boolean;
  /** Whether the selector needs an element's index among siblings of the same name. */
  readonly countsNames: boolean;
}

type Test = (subject: Subject) => boolean;

interface Step {
  readonly tests: readonly Test[];
  /** Whether the previous step must match the parent, instead of any ancestor. */
  readonly isChild: boolean;
}

const supported =
  "tags, *, .class, #id, [attr] and [attr=value] with = ^= $= *= ~= |=, :not(), :first-child, :nth-child(), " +
  ":first-of-type, :nth-of-type(), descendants (a b), children (a > b) and lists (a, b)";

const escapeSequence = String.raw`\\(?:[0-9a-fA-F]{1,6}[\t\n\f\r ]?|.)`;
const identifier = String.raw`-{0,2}(?:[A-Za-z_\u0080-\u{10ffff}]|${escapeSequence})(?:[-\w\u0080-\u{10ffff}]|${escapeSequence})*`;
const patterns = {
  space: /[\t\n\f\r ]*/uy,
  comma: /[\t\n\f\r ]*,[\t\n\f\r ]*/uy,
  child: /[\t\n\f\r ]*>[\t\n\f\r ]*/uy,
  descendant: /[\t\n\f\r ]+(?=[^\t\n\f\r ,>])/uy,
  tag: new RegExp(identifier, "uy"),
  any: /\*/uy,
  class: new RegExp(`\\.(${identifier})`, "uy"),
  id: new RegExp(`#(${identifier})`, "uy"),
  attribute: new RegExp(
    `\\[\\s*(${identifier})\\s*(?:([~|^$*]?=)\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|'((?:[^'\\\\]|\\\\.)*)'|([^\\s"'\\]]+))\\s*([iIsS]?)\\s*)?\\]`,
    "uy",
  ),
  not: /:not\([\t\n\f\r ]*/uy,
  close: /[\t\n\f\r ]*\)/uy,
  first: /:first-(child|of-type)(?![-\w])/uy,
  nth: /:nth-(child|of-type)\(\s*(?:(odd|even)|([+-]?\d*)n\s*(?:([+-])\s*(\d+))?|([+-]?\d+))\s*\)/uy,
} as const;

export function parseSelector(text: string): Selector {
  let at = 0;

  function accept(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) return undefined;
    at = pattern.lastIndex;
    return match;
  }

  function fail(): never {
    const location = at < text.length ? ` at ${JSON.stringify(text.slice(at))}` : "";
    throw new TypeError(
      `HTMLRewriter does not understand the selector ${JSON.stringify(text)}${location}. It knows ${supported}.`,
    );
  }

  function compound(): Test[] {
    const tests: Test[] = [];
    const tag = accept(patterns.tag);
    if (tag !== undefined) tests.push(hasName(unescapeText(tag[0])));
    else if (accept(patterns.any) !== undefined) tests.push(() => true);
    for (let test = simple(); test !== undefined; test = simple()) tests.push(test);
    return tests.length > 0 ? tests : fail();
  }

  function simple(): Test | undefined {
    const className = accept(patterns.class);
    if (className !== undefined) return attributeTest("class", "~=", unescapeText(className[1]!), "");
    const id = accept(patterns.id);
    if (id !== undefined) return attributeTest("id", "=", unescapeText(id[1]!), "");
    const attribute = accept(patterns.attribute);
    if (attribute !== undefined) {
      const [, name, operator, double, single, bare, flag] = attribute;
      return attributeTest(
        unescapeText(name!),
        operator,
        unescapeText(double ?? single ?? bare ?? ""),
        flag ?? "",
      );
    }
    const first = accept(patterns.first);
    if (first !== undefined) return nthTest(first[1]!, 0, 1);
    const nth = accept(patterns.nth);
    if (nth !== undefined) return nthTest(nth[1]!, ...formula(nth));
    return accept(patterns.not) === undefined ? undefined : negation();
  }

  function negation(): Test {
    const choices = [compound()];
    while (accept(patterns.comma) !== undefined) choices.push(compound());
    if (accept(patterns.close) === undefined) fail();
    return (subject) => !choices.some((tests) => tests.every((test) => test(subject)));
  }

  function steps(): Step[] {
    const found: Step[] = [{ tests: compound(), isChild: false }];
    for (;;) {
      if (accept(patterns.child) !== undefined) found.push({ tests: compound(), isChild: true });
      else if (accept(patterns.descendant) !== undefined) found.push({ tests: compound(), isChild: false });
      else return found;
    }
  }

  accept(patterns.space);
  const choices = [steps()];
  while (accept(patterns.comma) !== undefined) choices.push(steps());
  accept(patterns.space);
  if (at < text.length) fail();
  return {
    matches: (subject, ancestors) =>
      choices.some((choice) => matches(choice, choice.length - 1, subject, ancestors)),
    countsNames: text.includes("of-type"),
  };
}

function matches(
  steps: readonly Step[],
  index: number,
  subject: Subject,
  ancestors: readonly Subject[],
  depth: number = ancestors.length,
): boolean {
  const { tests, isChild } = steps[index]!;
  if (!tests.every((test) => test(subject))) return false;
  if (index === 0) return true;
  for (let parent = depth - 1; parent >= 0; parent--) {
    if (matches(steps, index - 1, ancestors[parent]!, ancestors, parent)) return true;
    if (isChild) return false;
  }
  return false;
}

function hasName(name: string): Test {
  const expected = lowerCase(bytesFromText(name));
  return ({ tag }) => tag.name === expected;
}

function attributeTest(name: string, operator: string | undefined, value: string, flag: string): Test {
  const expectedName = lowerCase(bytesFromText(name));
  if (operator === undefined) return ({ tag }) => findAttribute(tag, expectedName) !== undefined;
  const ignoresCase = flag.toLowerCase() === "i";
  const expected = ignoresCase ? lowerCase(bytesFromText(value)) : bytesFromText(value);
  return ({ tag }) => {
    const found = findAttribute(tag, expectedName);
    return found !== undefined && compare(operator, ignoresCase ? lowerCase(found) : found, expected);
  };
}

function compare(operator: string, found: string, expected: string): boolean {
  if (operator === "=") return found === expected;
  if (operator === "|=") return found === expected || found.startsWith(`${expected}-`);
  if (expected === "") return false;
  if (operator === "^=") return found.startsWith(expected);
  if (operator === "$=") return found.endsWith(expected);
  if (operator === "*=") return found.includes(expected);
  return found.split(/[\t\n\f\r ]+/).includes(expected);
}

/** Parses the coefficients a and b of an+b. */
function formula([, , word, step, sign, offset, fixed]: RegExpExecArray): [number, number] {
  if (word !== undefined) return [2, word === "odd" ? 1 : 0];
  if (fixed !== undefined) return [0, Number(fixed)];
  const a = step === "" || step === "+" ? 1 : step === "-" ? -1 : Number(step);
  return [a, Number(offset ?? 0) * (sign === "-" ? -1 : 1)];
}

function nthTest(kind: string, a: number, b: number): Test {
  return ({ childIndex, typeIndex }) => {
    const distance = (kind === "child" ? childIndex : typeIndex) - b;
    return a === 0 ? distance === 0 : distance % a === 0 && distance / a >= 0;
  };
}

function unescapeText(text: string): string {
  return text.replace(
    /\\(?:([0-9a-fA-F]{1,6})[\t\n\f\r ]?|(.))/gsu,
    (_, code: string | undefined, plain: string) =>
      code === undefined ? plain : String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff)),
  );
}
