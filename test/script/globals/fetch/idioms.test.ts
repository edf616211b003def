// Idioms of public scripts: copying messages, changing headers, and answering with CORS headers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { describeResponse } from "../../../../src/script/globals/fetch/response.ts";
import { incoming, script, streamOf } from "../installed.ts";

const { Headers, Request, Response } = script;

test("new Response(r.body, r) keeps body, status and headers, and the copy can be changed", async () => {
  const first = new Response("hello", { status: 201, statusText: "Made", headers: { "x-a": "1" } });
  const copy = new Response(first.body, first);
  copy.headers.set("access-control-allow-origin", "*");
  assert.deepEqual([copy.status, copy.statusText], [201, "Made"]);
  assert.equal(copy.headers.get("x-a"), "1");
  assert.equal(first.headers.get("access-control-allow-origin"), null);
  assert.equal(await copy.text(), "hello");
});

test("headers of a cached response are immutable, and headers of its copy can be changed", async () => {
  const url = "https://photos.example.com/kept";
  await script.caches.default.put(url, new Response("kept", { headers: { "cache-control": "max-age=60" } }));
  const cached = await script.caches.default.match(url);
  assert.throws(() => cached!.headers.set("x-a", "1"), /copy them first/);
  const copy = new Response(cached!.body, cached);
  copy.headers.set("x-a", "1");
  assert.equal(await copy.text(), "kept");
});

test("headers of Response.redirect are immutable, and headers of its copy can be changed", () => {
  const redirect = Response.redirect("https://example.com/a b", 301);
  assert.equal(redirect.headers.get("location"), "https://example.com/a%20b");
  assert.throws(() => redirect.headers.append("set-cookie", "a=1"), TypeError);
  const copy = new Response(redirect.body, redirect);
  copy.headers.append("set-cookie", "a=1");
  assert.deepEqual([copy.status, copy.headers.getSetCookie()], [301, ["a=1"]]);
  assert.throws(() => Response.redirect("https://example.com/", 200 as never), RangeError);
  assert.throws(() => Response.redirect("/relative", 302), TypeError);
});

test("new Request(url, request) sends the same request to another URL", async () => {
  const request = incoming({
    method: "POST",
    rawHeaders: ["Content-Type", "text/plain", "X-A", "1"],
    body: () => streamOf("bo", "dy"),
  });
  const url = new URL(request.url);
  url.hostname = "origin.example.com";
  const forwarded = new Request(url, request);
  assert.equal(forwarded.url, "http://origin.example.com/a");
  assert.equal(forwarded.method, "POST");
  assert.equal(forwarded.headers.get("x-a"), "1");
  forwarded.headers.delete("x-a");
  assert.equal(await forwarded.text(), "body");
});

test("new Request(request, { headers }) replaces the headers and keeps the rest", async () => {
  const request = incoming({ method: "PUT", rawHeaders: ["X-A", "1"], body: () => streamOf("body") });
  const headers = new Headers(request.headers);
  headers.set("x-b", "2");
  const changed = new Request(request, { headers });
  assert.deepEqual([...changed.headers], [...headers]);
  assert.equal(changed.method, "PUT");
  assert.equal(await changed.text(), "body");
});

test("headers can be converted to an object, a list and a Map", () => {
  const { headers } = incoming({ rawHeaders: ["Range", "bytes=0-9", "Accept", "*/*"] });
  assert.equal(headers.get("Range"), "bytes=0-9");
  assert.deepEqual(Object.fromEntries(headers), { accept: "*/*", range: "bytes=0-9" });
  assert.deepEqual(
    [...headers],
    [
      ["accept", "*/*"],
      ["range", "bytes=0-9"],
    ],
  );
  assert.deepEqual([...new Map(headers).keys()], ["accept", "range"]);
  assert.deepEqual(
    [...new Headers({ ...Object.fromEntries(headers), accept: "text/html" }).values()],
    ["text/html", "bytes=0-9"],
  );
});

test("a cloned response stays readable while the original is sent", async () => {
  const response = new Response(streamOf("a", "b"), { headers: { "x-a": "1" } });
  const clone = response.clone();
  const { body } = describeResponse(response);
  assert.equal(await new Response(body).text(), "ab");
  assert.equal(await clone.text(), "ab");
  assert.equal(clone.headers.get("x-a"), "1");
  assert.throws(() => response.clone(), TypeError);
});

test("a class derived from Response or Request keeps its own members", async () => {
  class JsonResponse extends Response {
    readonly made = "here";
    constructor(value: unknown) {
      super(JSON.stringify(value), { headers: { "content-type": "application/json" } });
    }
  }
  const derived = new JsonResponse({ a: 1 });
  assert.ok(derived instanceof JsonResponse && derived instanceof globalThis.Response);
  assert.deepEqual([derived.made, await derived.clone().json()], ["here", { a: 1 }]);
  assert.equal(describeResponse(derived).body, '{"a":1}');
});

test("a for-in loop over a request lists all of its members", () => {
  const names: string[] = [];
  for (const name in incoming()) names.push(name);
  for (const name of ["method", "url", "headers", "body", "signal", "redirect", "cf", "text"]) {
    assert.ok(names.includes(name), name);
  }
});
