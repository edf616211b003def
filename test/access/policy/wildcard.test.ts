// Tests the matching of wildcards: its results, and that its work grows with the text only.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compileWildcards } from "../../../src/access/policy/wildcard.ts";
import { createWork, freeWork, WorkExceeded } from "../../../src/access/policy/work.ts";
import { seeded } from "../../support/random.ts";

function isMatch(pattern: string, text: string): boolean {
  return compileWildcards([pattern])(text, freeWork);
}

test("a star stands for any characters, a question mark for one, and all else for itself", () => {
  for (const [pattern, text, expected] of [
    ["", "", true],
    ["", "a", false],
    ["*", "", true],
    ["**", "ab", true],
    ["?", "", false],
    ["?", "a", true],
    ["?", "ab", false],
    ["**a", "ba", true],
    ["a*", "a", true],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["a?*", "a", false],
    ["a?*", "ab", true],
    ["*?", "", false],
    ["*??*", "ab", true],
    ["*a?c*", "xxabaxcx", true],
    ["*a?c", "abcabd", false],
    ["ab*bc", "abc", false],
    ["a*b*c", "axxbyyc", true],
    ["a*b*c", "axxbyy", false],
    ["a\nb*", "a\nbc", true],
    [".*", "ab", false],
    ["[a]", "a", false],
    ["*.jpg", "cat.jpg", true],
    ["*.jpg", "cat.jpg.exe", false],
  ] as const)
    assert.equal(isMatch(pattern, text), expected, `${pattern} ${text}`);
});

/** Tries every way: slow, and obviously right. */
function isMatchByTrying(pattern: string, text: string): boolean {
  if (pattern === "") return text === "";
  const [head, rest] = [pattern[0], pattern.slice(1)];
  if (head === "*") {
    return isMatchByTrying(rest, text) || (text !== "" && isMatchByTrying(pattern, text.slice(1)));
  }
  return text !== "" && (head === "?" || head === text[0]) && isMatchByTrying(rest, text.slice(1));
}

test("random patterns match as if every way had been tried", () =>
  seeded(async ({ below, pick }) => {
    const textOf = (letters: readonly string[], length: number) =>
      Array.from({ length }, () => pick(letters)).join("");
    for (let i = 0; i < 20_000; i++) {
      const pattern = textOf(["a", "b", "*", "?"], below(9));
      const text = textOf(["a", "b"], below(12));
      assert.equal(isMatch(pattern, text), isMatchByTrying(pattern, text), `${pattern} ${text}`);
    }
  }));

test("a long literal between stars is found, also where it overlaps itself", () => {
  for (const length of [10, 250, 251, 1000]) {
    const piece = `${"a".repeat(length)}b`;
    assert.equal(isMatch(`*${piece}*`, `${"a".repeat(2000)}b`), true);
    assert.equal(isMatch(`*${piece}*`, "a".repeat(2000)), false);
    assert.equal(isMatch(`x*${piece}`, `x${"a".repeat(2000)}b`), true);
  }
});

test("the work of a match grows with the length of the text, or ends at the budget", () => {
  const unitsOf = (pattern: string, length: number) => {
    const work = createWork();
    work.begin();
    compileWildcards([pattern])("a".repeat(length), work);
    return work.spent();
  };
  for (const pattern of [
    `*${"a".repeat(200)}b*`,
    `${"*a".repeat(1000)}b`,
    `${"a*".repeat(1000)}b`,
    "*b*c*",
  ]) {
    assert.ok(unitsOf(pattern, 8000) <= 8000 + 20, pattern.slice(0, 8));
    assert.ok(unitsOf(pattern, 8000) <= 9 * Math.max(20, unitsOf(pattern, 1000)), pattern.slice(0, 8));
  }
  for (const pattern of [`*${"a".repeat(2000)}b*`, `*${"?".repeat(1000)}b*`])
    assert.throws(() => unitsOf(pattern, 8000), WorkExceeded);
});
