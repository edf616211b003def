// Tests the Request class of scripts, for incoming and constructed requests.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { declaredLength } from "../../../../src/binding/fixed-length-stream.ts";
import { incoming, node, script, streamOf } from "../installed.ts";

test("an incoming request has its method, URL and headers as received", () => {
  const url = "http://photos.example.com/a%2Fb/../c?d#e";
  const request = incoming({ url, method: "PUT", rawHeaders: ["X-Custom-Auth-Key", "secret"] });
  assert.equal(request.url, url);
  assert.equal(request.method, "PUT");
  assert.equal(request.headers.get("x-custom-auth-key"), "secret");
  assert.equal(request.headers, request.headers);
  assert.deepEqual(request.cf, {});
  assert.equal(request.redirect, "manual");
  assert.equal(request.body, null);
  assert.equal(request.bodyUsed, false);
});

test("an incoming request may have any HTTP method, and a copy of the request has the same method", () => {
  for (const method of [
    "PROPFIND",
    "MKCOL",
    "LOCK",
    "COPY",
    "MOVE",
    "REPORT",
    "TRACE",
    "purge",
    "m-search",
  ]) {
    assert.equal(incoming({ method }).method, method);
    assert.equal(new script.Request(incoming({ method })).method, method);
    assert.equal(incoming({ method }).clone().method, method);
  }
});

test("an incoming request is an instance of Store's and of Node's Request class", () => {
  assert.ok(incoming() instanceof Request);
  assert.ok(incoming() instanceof node.Request);
  assert.ok(new node.Request("http://a") instanceof Request);
  assert.ok(!(incoming() instanceof Response));
  assert.equal(Object.prototype.toString.call(incoming()), "[object Request]");
  assert.match(inspect(incoming()), /^Request \{\n {2}method: 'GET'/);
});

test("the body stream of an incoming request is not opened before the script accesses it", async () => {
  let opened = 0;
  const request = incoming({
    method: "PUT",
    body: () => {
      opened++;
      return streamOf("hello ", "world");
    },
  });
  assert.equal(request.bodyUsed, false);
  assert.equal(opened, 0);
  assert.equal(await request.text(), "hello world");
  assert.equal(opened, 1);
  assert.ok(request.bodyUsed);
});

test("request.body returns the connection's own stream, unwrapped, on every access", () => {
  const stream = streamOf("x");
  const request = incoming({ method: "PUT", body: () => stream });
  assert.equal(request.body, stream);
  assert.equal(request.body, stream);
});

test("the body of a request can be read as text, JSON, ArrayBuffer, blob and form", async () => {
  const posted = (text: string, type = "") =>
    incoming({ method: "POST", rawHeaders: ["Content-Type", type], body: () => streamOf(text) });
  assert.equal(await posted("grüße").text(), "grüße");
  assert.deepEqual(await posted('{"a":[1]}').json(), { a: [1] });
  assert.deepEqual(new Uint8Array(await posted("ab").arrayBuffer()), new Uint8Array([97, 98]));
  const blob = await posted("ab", "text/css").blob();
  assert.equal(blob.type, "text/css");
  assert.equal(await blob.text(), "ab");
  const form = await posted("a=1&b=%C3%A4", "application/x-www-form-urlencoded").formData();
  assert.equal(form.get("b"), "ä");
  await assert.rejects(posted("{").json(), SyntaxError);
  assert.equal(await incoming().text(), "");
});

test("request.formData parses a multipart form", async () => {
  const sent = new FormData();
  sent.set("name", "värde");
  sent.set("file", new Blob(["bytes"], { type: "image/png" }), "a.png");
  const encoded = new script.Response(sent);
  const request = incoming({
    method: "POST",
    rawHeaders: ["Content-Type", encoded.headers.get("content-type")!],
    body: () => encoded.body as ReadableStream<Uint8Array>,
  });
  const form = await request.formData();
  assert.equal(form.get("name"), "värde");
  const file = form.get("file") as File;
  assert.equal(file.name, "a.png");
  assert.equal(await file.text(), "bytes");
});

test("reading a request body that is used, locked or cancelled throws a TypeError", async () => {
  const read = incoming({ method: "PUT", body: () => streamOf("x") });
  await read.text();
  await assert.rejects(read.text(), TypeError);
  assert.throws(() => read.clone(), /clone\(\) before/);
  assert.throws(() => new script.Request(read), TypeError);
  assert.ok(read.body!.locked);
  const locked = incoming({ method: "PUT", body: () => streamOf("x") });
  locked.body!.getReader();
  await assert.rejects(locked.json(), TypeError);
  const cancelled = incoming({ method: "PUT", body: () => streamOf("x") });
  await cancelled.body!.cancel();
  assert.ok(cancelled.bodyUsed);
  await assert.rejects(cancelled.arrayBuffer(), TypeError);
});

test("a clone of a request has the same bytes, and both can be read", async () => {
  const request = incoming({ method: "PUT", rawHeaders: ["A", "1"], body: () => streamOf("a", "b") });
  const clone = request.clone();
  assert.deepEqual(await Promise.all([request.text(), clone.text()]), ["ab", "ab"]);
  assert.equal(clone.headers.get("a"), "1");
  assert.equal(clone.url, request.url);
});

test("new Request(request, changes) applies the changes and takes over the body", async () => {
  const first = incoming({ method: "PUT", rawHeaders: ["A", "1"], body: () => streamOf("bytes") });
  const second = new script.Request(first, { method: "POST", headers: { b: "2" } });
  assert.equal(second.method, "POST");
  assert.equal(second.url, first.url);
  assert.deepEqual([...second.headers], [["b", "2"]]);
  assert.ok(first.bodyUsed);
  await assert.rejects(first.text(), TypeError);
  assert.equal(await second.text(), "bytes");
});

test("new Request(url, request) copies everything but the URL from the request", async () => {
  const first = incoming({ method: "PATCH", rawHeaders: ["A", "1"], body: () => streamOf("bytes") });
  const second = new script.Request("https://origin.example.com/x", first);
  assert.equal(second.url, "https://origin.example.com/x");
  assert.equal(second.method, "PATCH");
  assert.equal(second.redirect, "manual");
  second.headers.set("a", "2");
  assert.equal(first.headers.get("a"), "1");
  assert.equal(await second.text(), "bytes");
  assert.ok(first.bodyUsed);
});

test("a request of Node's own class is accepted by the Request constructor", async () => {
  const own = new node.Request("http://a/b", { method: "POST", body: "x", headers: { c: "d" } });
  const request = new script.Request(own, { headers: { e: "f" } });
  assert.equal(request.method, "POST");
  assert.equal(request.url, "http://a/b");
  assert.equal(await request.text(), "x");
});

test("a Request with a stream body does not need the duplex option", async () => {
  const request = new script.Request("http://a/", { method: "PUT", body: streamOf("a", "b") });
  assert.equal(await request.text(), "ab");
  const { readable, writable } = new script.FixedLengthStream(2);
  const writer = writable.getWriter();
  const writing = Promise.all([writer.write(new Uint8Array([1, 2])), writer.close()]);
  const fixed = new script.Request("http://a/", { method: "PUT", body: readable });
  assert.equal(fixed.body, readable);
  assert.deepEqual(new Uint8Array(await fixed.arrayBuffer()), new Uint8Array([1, 2]));
  await writing;
});

test("the body of a request sets Content-Type unless the headers have one", () => {
  const typeOf = (body: unknown, headers = {}) =>
    new script.Request("http://a/", { method: "POST", body, headers }).headers.get("content-type");
  assert.equal(typeOf("x"), "text/plain;charset=UTF-8");
  assert.equal(typeOf(new URLSearchParams("a=b")), "application/x-www-form-urlencoded;charset=UTF-8");
  assert.equal(typeOf(new Blob(["x"], { type: "text/css" })), "text/css");
  assert.match(typeOf(new FormData())!, /^multipart\/form-data; boundary=/);
  assert.equal(typeOf(new Uint8Array(1)), null);
  assert.equal(typeOf("x", { "Content-Type": "text/html" }), "text/html");
});

test("request methods are validated, and only the six methods that the standard normalizes are uppercased", () => {
  const methodOf = (method: string) => new script.Request("http://a/", { method }).method;
  assert.equal(methodOf("get"), "GET");
  assert.equal(methodOf("Delete"), "DELETE");
  assert.equal(methodOf("propfind"), "propfind");
  assert.equal(methodOf("patch"), "patch");
  for (const method of ["", "a b", "TRACE", "connect"]) assert.throws(() => methodOf(method), TypeError);
});

test("GET and HEAD requests cannot be constructed with a body, but incoming requests keep their body", async () => {
  assert.throws(() => new script.Request("http://a/", { body: "x" }), TypeError);
  const put = () => incoming({ method: "PUT", body: () => streamOf("x") });
  assert.throws(() => new script.Request(put(), { method: "HEAD" }), TypeError);
  const odd = incoming({ method: "GET", body: () => streamOf("x") });
  assert.equal(await new script.Request("http://a/", odd).text(), "x");
});

test("a relative URL is refused with an error that quotes it", () => {
  assert.equal(new script.Request("HTTP://Example.com/a/../b").url, "http://example.com/b");
  assert.equal(new script.Request(new URL("http://a/b")).url, "http://a/b");
  assert.throws(() => new script.Request("/path"), /"\/path".*whole/);
  assert.throws(() => new script.Request("http://user:pass@a/"), TypeError);
});

test("request.signal is aborted with the given signal, and exists also if no signal was given", () => {
  const { signal, abort } = controller();
  const request = new script.Request("http://a/", { signal });
  const copy = new script.Request(request);
  const clone = copy.clone();
  assert.notEqual(request.signal, signal);
  assert.equal(request.signal, request.signal);
  abort();
  for (const one of [request, copy, clone]) assert.ok(one.signal.aborted);
  assert.ok(new script.Request("http://a/", { signal }).signal.aborted);
  let leave = () => {};
  const watched = incoming({
    onDisconnect(listener) {
      leave = listener;
    },
  });
  assert.equal(watched.signal.aborted, false);
  leave();
  assert.ok(watched.signal.aborted);
  assert.ok(new script.Request(watched).signal.aborted);
  assert.equal(new script.Request(watched, { signal: null }).signal.aborted, false);
  assert.equal(incoming().signal.aborted, false);
  assert.throws(() => new script.Request("http://a/", { signal: {} }), TypeError);

  function controller() {
    const made = new AbortController();
    return { signal: made.signal, abort: () => made.abort() };
  }
});

test("the cf property that a script passes to new Request is kept", () => {
  assert.deepEqual(new script.Request("http://a/", { cf: { country: "SE" } }).cf, { country: "SE" });
  assert.equal(new script.Request("http://a/").cf, undefined);
  assert.deepEqual(new script.Request("http://b/", incoming()).cf, {});
});

test("the signal of a copied request is aborted when the client disconnects, whichever signal is read first", () => {
  let leave = () => {};
  const watched = incoming({
    onDisconnect(listener) {
      leave = listener;
    },
  });
  const copy = new script.Request("http://origin.example.com/", watched);
  assert.equal(copy.signal.aborted, false);
  leave();
  assert.ok(copy.signal.aborted);
});

test("new Request throws a TypeError for field values that the standard does not allow", () => {
  const make = (init: object) => () => new script.Request("http://a/", init);
  for (const name of ["mode", "credentials", "cache", "redirect", "referrerPolicy", "duplex", "priority"]) {
    assert.throws(make({ [name]: "wrong" }), new RegExp(`"${name}" must be one of`));
  }
  assert.throws(make({ mode: "navigate" }), TypeError);
  assert.throws(make({ mode: "no-cors", method: "PUT" }), TypeError);
  assert.throws(make({ cache: "only-if-cached" }), TypeError);
  assert.throws(make({ window: {} }), TypeError);
  assert.throws(make({ referrer: "http://:1" }), TypeError);
  assert.throws(make({ method: "POST", keepalive: true, body: streamOf("x") }), TypeError);
  assert.throws(() => new (script.Request as unknown as new () => Request)(), TypeError);
  const request = new script.Request("http://a/", { mode: "same-origin", integrity: 5, keepalive: 1 });
  assert.deepEqual([request.mode, request.integrity, request.keepalive], ["same-origin", "5", true]);
  assert.equal(new script.Request(request, { method: "POST" }).mode, "same-origin");
});

test("request.body still returns the same stream after new Request(request) has taken over the body", async () => {
  const first = new script.Request("http://a/", { method: "POST", body: "text" });
  const { body } = first;
  const second = new script.Request(first);
  assert.ok(first.bodyUsed);
  assert.equal(first.body, body);
  assert.notEqual(second.body, body);
  assert.equal(declaredLength(second.body!), 4);
  assert.equal(await second.text(), "text");
});

test("a request has the standard fields cache, redirect, credentials, keepalive and mode", () => {
  const request = new script.Request("http://a/", { cache: "no-store", redirect: "error" });
  assert.equal(request.cache, "no-store");
  assert.equal(request.redirect, "error");
  assert.equal(request.credentials, "same-origin");
  assert.equal(incoming().keepalive, false);
  assert.equal(incoming().mode, "cors");
  assert.throws(() => new script.Request("http://a/", { redirect: "never" }), TypeError);
  assert.throws(() => new script.Request("http://a/", 5), TypeError);
});
