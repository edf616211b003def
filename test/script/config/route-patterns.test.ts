// Route patterns, and suggestions for mistyped words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { nearest } from "../../../src/model/names/did-you-mean.ts";
import { parseRoute } from "../../../src/script/config/route-patterns.ts";

test("a route pattern consists of a host and a path, with * only at the start of the host or end of the path", () => {
  const host = (name: string, below = false) => ({ name, below });
  const rows = [
    ["photos.example.com/*", host("photos.example.com"), { prefix: "/", open: true }],
    ["Photos.Example.com/Api/*", host("photos.example.com"), { prefix: "/Api/", open: true }],
    ["*.example.com/img*", host("example.com", true), { prefix: "/img", open: true }],
    ["*/health", undefined, { prefix: "/health", open: false }],
    ["localhost/", host("localhost"), { prefix: "/", open: false }],
    ["127.0.0.1/*", host("127.0.0.1"), { prefix: "/", open: true }],
    ["[::1]/*", host("[::1]"), { prefix: "/", open: true }],
    ["a.b/x%20y", host("a.b"), { prefix: "/x%20y", open: false }],
  ] as const;
  for (const [pattern, expectedHost, path] of rows) {
    assert.deepEqual(parseRoute(pattern), { pattern, host: expectedHost, path });
  }
});

test("an invalid route pattern is refused with a correction", () => {
  const rows = [
    ["", /empty: write host\/path/],
    ["https://a.example/*", /no scheme: write a\.example\/\*$/],
    ["a.example", /no path: write a\.example\/\*$/],
    ["/images/*", /no host: write \*\/images\/\*$/],
    ["a.example:8787/*", /no port: write a\.example\/\*$/],
    ["[::1]:8787/*", /no port: write \[::1\]\/\*$/],
    ["*example.com/*", /write example\.com\/\* and \*\.example\.com\/\*$/],
    ["a.*.example/*", /\* is in the wrong position: write \* alone or before the first dot/],
    ["**/*", /\* is in the wrong position/],
    ["a b/*", /"a b" is not a host name: write one such as/],
    ["-a.example/*", /is not a host name/],
    ["a..example/*", /is not a host name/],
    ["bücher.example/*", /write xn--bcher-kva\.example\/\*$/],
    ["a.example/*/x", /only at the end: write a\.example\/\*$/],
    ["a.example/x?y=1", /no query and no fragment: write a\.example\/x$/],
    ["a.example/x#y", /no fragment: write a\.example\/x$/],
    ["a.example/größe x/*", /as it is sent: write a\.example\/gr%C3%B6%C3%9Fe%20x\/\*$/],
  ] as const;
  for (const [pattern, message] of rows) {
    assert.throws(() => parseRoute(pattern), { name: "RangeError", message }, pattern);
  }
});

test("the nearest known word is suggested for a mistyped word, or none if no word is near", () => {
  const known = ["store_buckets", "compatibility_date", "compatibility_flags", "routes", "name", "dev"];
  const rows = [
    ["store_bukets", "store_buckets"],
    ["STORE_BUCKETS", "store_buckets"],
    ["storebuckets", "store_buckets"],
    ["rotues", "routes"],
    ["route", "routes"],
    ["nmae", "name"],
    ["compat_date", "compatibility_date"],
    ["compatibility_flag", "compatibility_flags"],
    ["dve", "dev"],
    ["x", undefined],
    ["", undefined],
    ["bindings", undefined],
    ["kv_namespaces", undefined],
  ] as const;
  for (const [word, expected] of rows) assert.equal(nearest(word, known), expected, word);
});
