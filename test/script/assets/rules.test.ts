// The files _headers, _redirects and .assetsignore, and the patterns in them.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { findAsset } from "../../../src/script/assets/find-asset.ts";
import { parseIgnorePatterns } from "../../../src/script/assets/ignore-patterns.ts";
import { customHeaders } from "../../../src/script/assets/rules/custom-headers.ts";
import { parseHeaders } from "../../../src/script/assets/rules/parse-headers.ts";
import { parseRedirects } from "../../../src/script/assets/rules/parse-redirects.ts";
import { compileGlob, compilePattern } from "../../../src/script/assets/rules/path-pattern.ts";
import { createDestinationChooser, prefersAssets } from "../../../src/script/assets/worker-first.ts";

const matched = (pattern: string, text: string) => {
  const captures = compilePattern(pattern).match(text);
  return captures === undefined ? undefined : Object.fromEntries(captures);
};

test("in a rule's path pattern, * matches any text, and a placeholder matches one non-empty segment", () => {
  assert.deepEqual(matched("/blog/*", "/blog/a/b"), { splat: "a/b" });
  assert.deepEqual(matched("/blog/*", "/blog/"), { splat: "" });
  assert.equal(matched("/blog/*", "/blog"), undefined);
  assert.deepEqual(matched("/:year/:month/*", "/2026/11/a/b"), { year: "2026", month: "11", splat: "a/b" });
  assert.equal(matched("/:year/x", "//x"), undefined);
  assert.equal(matched("/:year", "/a/b"), undefined);
  assert.deepEqual(matched("/*/end", "/a/end/end"), { splat: "a/end" });
  assert.deepEqual(matched("/:name.:ext", "/a.b.c"), { name: "a.b", ext: "c" });
  assert.deepEqual(matched("https://:sub.example.com/*", "https://a.example.com/x"), {
    sub: "a",
    splat: "x",
  });
  assert.equal(matched("https://:sub.example.com/*", "https://a.b.example.com/x"), undefined);
  assert.equal(matched("/exact", "/exact/"), undefined);
});

test("a rule's path pattern with two wildcards or the same placeholder twice is refused", () => {
  assert.throws(() => compilePattern("/*/a/*"), /more than one wildcard/);
  assert.throws(() => compilePattern("/*/:splat"), /more than one wildcard/);
  assert.throws(() => compilePattern("/:a/:a"), /:a twice/);
});

test("a pattern with many placeholders or wildcards is matched quickly against an adversarial path", () => {
  const pattern = compilePattern(`/${":a-:b-:c-:d-:e-:f"}/*.html`);
  const began = performance.now();
  assert.equal(pattern.match(`/${"-".repeat(16_000)}`), undefined);
  assert.equal(compileGlob("/*a*a*a*a*a*b")(`/${"a".repeat(16_000)}`), false);
  assert.ok(performance.now() - began < 5000);
});

test("a pattern of headers and redirects has at most eight wildcards", () => {
  const pattern = (count: number) => Array.from({ length: count }, (_, i) => `/:p${i}`).join("");
  assert.ok(compilePattern(pattern(8)).match("/a/b/c/d/e/f/g/h"));
  assert.throws(() => compilePattern(pattern(9)), /more than 8 wildcards/);
});

test("a glob matches where any places of its parts do", () => {
  const cases: readonly (readonly [glob: string, text: string, matches: boolean])[] = [
    ["/a", "/a", true],
    ["/a", "/ab", false],
    ["/a*", "/a", true],
    ["/a*a", "/a", false],
    ["/*ab*ab", "/abab", true],
    ["/*ab*ab", "/ab", false],
    ["/*ab*b", "/ab", false],
    ["/**/x", "/a/b/x", true],
    ["/api/*.json", "/api/a/b.json", true],
    ["*", "", true],
  ];
  for (const [glob, text, matches] of cases)
    assert.equal(compileGlob(glob)(text), matches, `${glob} ${text}`);
});

/** Tries all places, in a time that only short texts allow. */
function ignoresSlowly(pattern: string, path: string): boolean {
  const match = (rest: readonly string[], names: readonly string[]): boolean => {
    const [first, ...others] = rest;
    if (first === undefined) return names.length === 0;
    if (first === "**" && others.length === 0) return names.length > 0;
    if (first === "**") return names.some((_, i) => match(others, names.slice(i)));
    const expression = new RegExp(`^${first.replaceAll(/\*+/g, ".*").replaceAll("?", ".")}$`);
    return names.length > 0 && expression.test(names[0]!) && match(others, names.slice(1));
  };
  const segments = pattern.split("/");
  return match(segments.length === 1 ? ["**", ...segments] : segments, path.split("/"));
}

test("an ignore pattern matches the same paths as one that tries all places", () => {
  const piece = fc.constantFrom("a", "b", "ab", "*", "?", "**", "*a*", "a*b", "*ab*b", "**a");
  const pattern = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join("/"));
  const name = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 5 });
  const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => names.join("/"));
  fc.assert(
    fc.property(pattern, path, (text, file) => {
      assert.equal(parseIgnorePatterns(text).ignores(file, "file"), ignoresSlowly(text, file));
    }),
    { numRuns: 3000 },
  );
});

test("ignore patterns that would try all places of many wildcards end", () => {
  const name = "a".repeat(255);
  const patterns = ["*a".repeat(60), `${"*a*/".repeat(20)}b`, `${"**/a*/".repeat(30)}b`];
  const { ignores } = parseIgnorePatterns(patterns.map((pattern) => `${pattern}b`).join("\n"));
  assert.equal(ignores(name, "file"), false);
  assert.equal(ignores(Array.from({ length: 15 }, () => name).join("/"), "file"), false);
  assert.equal(ignores(Array.from({ length: 1000 }, () => "aaa").join("/"), "file"), false);
});

test("at most 1,000 ignore patterns of at most 1,000 characters apply", () => {
  const { faults, ignores } = parseIgnorePatterns(
    [`${"x".repeat(1001)}`, ...Array.from({ length: 1002 }, (_, i) => `f${i}`)].join("\n"),
  );
  assert.deepEqual(
    faults.map(({ line }) => line),
    [1, 1002],
  );
  assert.deepEqual([ignores("f999", "file"), ignores("f1000", "file")], [true, false]);
});

function redirectTo(content: string, pathname: string, search = "") {
  const redirects = parseRedirects(content, "auto-trailing-slash");
  assert.deepEqual(redirects.faults, []);
  const request = { method: "GET", host: "example.com", pathname, search, header: () => undefined };
  const files = new Set(["/new.html", "/app/index.html"]);
  return findAsset(
    request,
    { files, redirects },
    { htmlHandling: "auto-trailing-slash", notFoundHandling: "none" },
  );
}

test("a redirect inserts the captured parts of the path into its target and keeps the query", () => {
  const content = [
    "/old /new 301 # a comment",
    "/news/* /blog/:splat",
    "/u/:name https://users.example.com/:name?tab=1#top 308",
    "/out/* /:splat 302",
    "/app/* /app/ 200",
    "/gone /nowhere 200",
  ].join("\n");
  assert.deepEqual(redirectTo(content, "/old", "?q=1"), {
    kind: "redirect",
    status: 301,
    location: "/new?q=1",
  });
  assert.deepEqual(redirectTo(content, "/news/a/b"), {
    kind: "redirect",
    status: 302,
    location: "/blog/a/b",
  });
  const external = { kind: "redirect", status: 308, location: "https://users.example.com/ann?tab=1#top" };
  assert.deepEqual(redirectTo(content, "/u/ann", "?tab=2"), external);
  assert.deepEqual(redirectTo(content, "/out//evil.example"), {
    kind: "redirect",
    status: 302,
    location: "/evil.example",
  });
  assert.deepEqual(redirectTo(content, "/app/deep/link"), {
    kind: "asset",
    path: "/app/index.html",
    status: 200,
  });
  assert.deepEqual(redirectTo(content, "/gone"), { kind: "missing" });
  assert.equal(redirectTo(content, "/other"), undefined);
  const named = { ...parseRedirects("/old /new", "none"), files: new Set<string>() };
  const request = {
    method: "GET",
    host: "Example.com:443",
    pathname: "/old",
    search: "",
    header: () => undefined,
  };
  const rules = { htmlHandling: "none", notFoundHandling: "none" } as const;
  const found = findAsset(request, { files: named.files, redirects: named }, rules);
  assert.deepEqual(found, { kind: "redirect", status: 302, location: "/new" });
});

test("malformed redirects are reported with their line number, and the other redirects apply", () => {
  const content = [
    "# comment",
    "/only-one",
    "/a /b 404",
    "https://example.com/a /b",
    "/a ftp://example.com/",
    "/a https://example.com/ 200",
    "/* /index.html",
    "/*/x/* /y",
    "/a /b",
    "/a /c",
    `/${"x".repeat(2000)} /y`,
  ].join("\n");
  const { faults, static: fixed, dynamic } = parseRedirects(content, "auto-trailing-slash");
  assert.deepEqual(
    faults.map(({ line }) => line),
    [2, 3, 4, 5, 6, 7, 8, 10, 11],
  );
  assert.deepEqual([...fixed], [["/a", { to: "/b", status: 302 }]]);
  assert.deepEqual(dynamic, []);
});

test("at most 2,000 static redirects, 100 dynamic redirects and 100 header rules apply", () => {
  const lines = (count: number, line: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => line(i));
  const fixed = parseRedirects(lines(2001, (i) => `/a/${i} /b`).join("\n"), "none");
  assert.deepEqual([fixed.static.size, fixed.faults.map(({ line }) => line)], [2000, [2001]]);
  const dynamic = parseRedirects(lines(101, (i) => `/a/${i}/* /b`).join("\n"), "none");
  assert.deepEqual([dynamic.dynamic.length, dynamic.faults.map(({ line }) => line)], [100, [101]]);
  const headers = parseHeaders(lines(101, (i) => `/a/${i}\n  x-a: b`).join("\n"));
  assert.deepEqual([headers.rules.length, headers.faults.map(({ line }) => line)], [100, [201]]);
});

test("rules in _headers can replace headers of the server, add to earlier rules, and remove headers", () => {
  const { rules, faults } = parseHeaders(
    [
      "/*",
      "  X-Frame-Options: DENY",
      "  Set-Cookie: a=1",
      "/static/*",
      "  Cache-Control: public, max-age=31536000, immutable",
      "  X-Path: :splat",
      "  Set-Cookie: b=2",
      "  X-Frame-Options: SAMEORIGIN",
      "/static/plain/*",
      "  ! X-Frame-Options",
      "https://:branch.example.com/*",
      "  X-Robots-Tag: noindex",
    ].join("\n"),
  );
  assert.deepEqual(faults, []);
  const before = [["cache-control", "no-store"]] as const;
  const at = (host: string, pathname: string) => customHeaders(before, { host, pathname }, rules);
  assert.deepEqual(at("a:80", "/x"), [
    ["cache-control", "no-store"],
    ["x-frame-options", "DENY"],
    ["set-cookie", "a=1"],
  ]);
  assert.deepEqual(at("a", "/static/plain/f.js"), [
    ["cache-control", "public, max-age=31536000, immutable"],
    ["set-cookie", "a=1"],
    ["set-cookie", "b=2"],
    ["x-path", "plain/f.js"],
  ]);
  assert.deepEqual(at("Dev.example.com:8787", "/").at(-1), ["x-robots-tag", "noindex"]);
  assert.deepEqual(at("example.com", "/").at(-1), ["set-cookie", "a=1"]);
});

test("malformed lines of _headers are reported with their line number, and the other lines apply", () => {
  const content = [
    "x-early: 1",
    "/a",
    "  no colon",
    "  bad name: 1",
    "  x-empty:",
    "  content-length: 5",
    "  x-good: 1",
    "/*/b/*",
    "  x-lost: 1",
    "http://example.com/",
    "https://example.com:80/x",
    "/empty",
  ].join("\n");
  const { rules, faults } = parseHeaders(content);
  assert.deepEqual(
    faults.map(({ line }) => line),
    [1, 3, 4, 5, 6, 8, 10, 11, 12],
  );
  assert.deepEqual(
    rules.map(({ set }) => [...set]),
    [[["x-good", "1"]]],
  );
});

test(".assetsignore follows the rules of .gitignore", () => {
  const patterns = parseIgnorePatterns(
    [
      "# comment",
      "*.map",
      "!keep.map",
      "/top.txt",
      "drafts/",
      "a/**/z",
      "docs/*.md",
      "\\#odd",
      "s[a-c]x",
      "wild?",
      "b[",
      "spaced ",
    ].join("\n"),
  );
  const ignored = (path: string, kind: "file" | "folder" = "file") => patterns.ignores(path, kind);
  for (const path of [
    "x.map",
    "deep/x.map",
    "top.txt",
    "a/z",
    "a/b/c/z",
    "docs/x.md",
    "#odd",
    "sbx",
    "wild1",
    "b[",
    "spaced",
  ]) {
    assert.equal(ignored(path), true, path);
  }
  for (const path of [
    "keep.map",
    "deep/top.txt",
    "drafts",
    "docs/deep/x.md",
    "sdx",
    "wild",
    "x.mapp",
    "comment",
  ]) {
    assert.equal(ignored(path), false, path);
  }
  assert.equal(ignored("drafts", "folder"), true);
  assert.equal(ignored("deep/drafts", "folder"), true);
  assert.deepEqual(
    parseIgnorePatterns("ok\n[z-a]\n").faults.map(({ line }) => line),
    [2],
  );
});

test("run_worker_first sends requests to the script, except for excluded paths", () => {
  const destination = createDestinationChooser(["/api/*", "!/api/docs/*", "/exact"]);
  assert.equal(destination("/api/users"), "script");
  assert.equal(destination("/api/docs/index.html"), "assets");
  assert.equal(destination("/exact"), "script");
  assert.equal(destination("/exact/more"), "either");
  assert.equal(createDestinationChooser(true)("/"), "script");
  assert.equal(createDestinationChooser(false)("/"), "either");
});

test("browser navigation prefers assets to the script since compatibility date 2025-04-01, unless a flag is set", () => {
  const prefers = (compatibilityDate: string, ...compatibilityFlags: string[]) =>
    prefersAssets({ compatibilityDate, compatibilityFlags });
  assert.equal(prefers("2025-03-31"), false);
  assert.equal(prefers("2025-04-01"), true);
  assert.equal(prefers("2025-03-31", "assets_navigation_prefers_asset_serving"), true);
  assert.equal(prefers("2026-01-01", "assets_navigation_has_no_effect"), false);
});
