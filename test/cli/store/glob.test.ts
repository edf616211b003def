// Patterns of keys, and words that may be paths or addresses.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compilePattern, isPattern, splitPattern } from "../../../src/cli/store/glob.ts";
import { parseLocator } from "../../../src/cli/store/locator.ts";

test("a star matches within a folder, two stars across folders", () => {
  const cases: readonly (readonly [pattern: string, name: string, matches: boolean])[] = [
    ["*.jpg", "cat.jpg", true],
    ["*.jpg", "sub/cat.jpg", false],
    ["**.jpg", "sub/cat.jpg", true],
    ["**/*.jpg", "cat.jpg", true],
    ["**/*.jpg", "a/b/cat.jpg", true],
    ["c?t", "cat", true],
    ["c?t", "c/t", false],
    ["[a-c]at", "bat", true],
    ["[!a-c]at", "bat", false],
    ["[!a-c]at", "rat", true],
    ["a.b", "axb", false],
    ["a\\*b", "a*b", true],
    ["a\\*b", "axb", false],
    ["*", "line\nbreak", true],
    ["?", "\u{1F431}", true],
  ];
  for (const [pattern, name, matches] of cases)
    assert.equal(compilePattern(pattern)(name), matches, `${pattern} ${name}`);
});

test("a pattern is split at the last folder before its first wildcard", () => {
  assert.deepEqual(splitPattern("2026/11/*.jpg"), { prefix: "2026/11/", pattern: "*.jpg" });
  assert.deepEqual(splitPattern("a*"), { prefix: "", pattern: "a*" });
  assert.deepEqual(splitPattern("a/\\*.txt"), { prefix: "a/*.txt", pattern: undefined });
  assert.ok(!isPattern("a/\\*.txt"));
});

test("a side of a copy is a path, an address, an address of a profile, a stream or a word", () => {
  assert.deepEqual(parseLocator("./a"), { kind: "path", path: "./a" });
  assert.deepEqual(parseLocator("/a"), { kind: "path", path: "/a" });
  assert.deepEqual(parseLocator("-"), { kind: "stream" });
  assert.deepEqual(parseLocator("photos/a:b"), { kind: "word", text: "photos/a:b" });
  const object = { kind: "object", bucket: "photos", key: "a//b?c" };
  assert.deepEqual(parseLocator("s3://photos/a//b?c"), { ...object, profile: undefined });
  assert.deepEqual(parseLocator("work:photos/a//b?c"), { ...object, profile: "work" });
  assert.throws(
    () => parseLocator("https://user:secret@host/x"),
    (error: Error) => {
      assert.match(error.message, /"https:"/);
      return !error.message.includes("secret");
    },
  );
});
