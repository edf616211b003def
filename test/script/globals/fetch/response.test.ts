// Tests the Response class of scripts and its conversion for the host, which sends it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import fc from "fast-check";
import { declaredLength } from "../../../../src/binding/fixed-length-stream.ts";
import { describeResponse, type ResponseDescription } from "../../../../src/script/globals/fetch/response.ts";
import { node, script, streamOf } from "../installed.ts";

const described = (response: Response): ResponseDescription & { pairs: [string, string][] } => {
  const description = describeResponse(response);
  return { ...description, pairs: [...description.headers] };
};

test("a text body of a response is passed to the host as text, without a stream", () => {
  const response = new script.Response("hello", { status: 201, statusText: "Made", headers: { A: "1" } });
  const { status, statusText, pairs, body } = described(response);
  assert.deepEqual([status, statusText, body], [201, "Made", "hello"]);
  assert.deepEqual(
    new Map(pairs),
    new Map([
      ["a", "1"],
      ["content-type", "text/plain;charset=UTF-8"],
    ]),
  );
});

test("a Response can be constructed with Store's Headers, with Node's Headers or without headers", () => {
  assert.deepEqual(described(new script.Response()).pairs, []);
  assert.deepEqual(described(new script.Response("x")).pairs, [["content-type", "text/plain;charset=UTF-8"]]);
  for (const Headers of [script.Headers, node.Headers]) {
    const headers = new Headers({ "Content-Type": "text/html", b: "2" });
    const pairs = described(new script.Response("x", { headers })).pairs;
    assert.deepEqual(
      new Map(pairs),
      new Map([
        ["content-type", "text/html"],
        ["b", "2"],
      ]),
    );
  }
});

test("Set-Cookie values of a response stay separate, and text is sent as UTF-8", () => {
  const response = new script.Response(null, { headers: { "X-Name": "日本" } });
  response.headers.append("set-cookie", "a=1");
  response.headers.append("set-cookie", "b=2");
  assert.deepEqual(described(response).pairs, [
    ["x-name", Buffer.from("日本").toString("latin1")],
    ["set-cookie", "a=1"],
    ["set-cookie", "b=2"],
  ]);
});

test("response headers that are set after construction are sent", () => {
  const response = new script.Response("x");
  response.headers.set("Content-Type", "text/html");
  response.headers.set("Allow", "GET");
  assert.deepEqual(
    new Map(described(response).pairs),
    new Map([
      ["content-type", "text/html"],
      ["allow", "GET"],
    ]),
  );
});

test("the stream body of a response is passed to the host unwrapped", () => {
  const stream = streamOf("x");
  assert.equal(described(new script.Response(stream)).body, stream);
  const { readable } = new script.IdentityTransformStream();
  assert.equal(described(new script.Response(readable)).body, readable);
  const fixed = new script.FixedLengthStream(3).readable;
  assert.equal(declaredLength(described(new script.Response(fixed)).body as ReadableStream), 3);
});

test("a response sends its bytes as they were at its construction, even if the buffer changes later", () => {
  const bytes = new Uint8Array([1, 2, 3, 4]);
  const responses = [
    new script.Response(bytes),
    new script.Response(bytes.buffer),
    new script.Response(new DataView(bytes.buffer, 1, 2)),
  ];
  bytes.fill(0);
  const bodies = responses.map((response) => [...(described(response).body as Uint8Array)]);
  assert.deepEqual(bodies, [
    [1, 2, 3, 4],
    [1, 2, 3, 4],
    [2, 3],
  ]);
});

test("a Response with a Blob body has the Blob's length as its declared length", async () => {
  const { body, pairs } = described(new script.Response(new Blob(["abc"], { type: "text/css" })));
  assert.ok(body instanceof ReadableStream);
  assert.equal(declaredLength(body), 3);
  assert.deepEqual(pairs, [["content-type", "text/css"]]);
  assert.equal(await new node.Response(body).text(), "abc");
});

test("a response of Node's own class can be passed to the host", async () => {
  const own = new node.Response("hi", {
    status: 404,
    headers: [
      ["set-cookie", "a"],
      ["set-cookie", "b"],
    ],
  });
  const { status, pairs, body } = described(own);
  assert.equal(status, 404);
  assert.deepEqual(pairs.filter(([name]) => name === "set-cookie").length, 2);
  assert.equal(await new node.Response(body).text(), "hi");
  assert.equal(described(new node.Response(null)).body, null);
});

test("sending a response that was already read or sent, or a value other than a Response, throws a TypeError", async () => {
  const read = new script.Response("x");
  await read.text();
  assert.throws(() => describeResponse(read), TypeError);
  const sent = new script.Response("x");
  describeResponse(sent);
  assert.throws(() => describeResponse(sent), TypeError);
  assert.ok(sent.bodyUsed);
  const own = new node.Response("x");
  await own.text();
  assert.throws(() => describeResponse(own), TypeError);
  assert.throws(() => describeResponse(script.Response.error()), TypeError);
  for (const value of [null, undefined, "text", {}]) {
    assert.throws(() => describeResponse(value as never), TypeError);
  }
});

test("a response with a status that forbids a body can be constructed only with an empty body", () => {
  for (const status of [204, 205, 304]) {
    for (const body of [
      "",
      new Uint8Array(),
      new ArrayBuffer(0),
      new Blob([]),
      new URLSearchParams(),
      null,
    ]) {
      const response = new script.Response(body, { status });
      assert.equal(response.status, status);
      assert.equal(response.body, null);
      assert.equal(described(response).body, null);
    }
    assert.throws(() => new script.Response("x", { status }), TypeError);
    assert.throws(() => new script.Response(streamOf("x"), { status }), TypeError);
  }
});

test("an invalid status throws a RangeError, and invalid headers or status texts a TypeError", () => {
  for (const status of [0, 101, 199, 600, Number.NaN, "abc"]) {
    assert.throws(() => new script.Response(null, { status }), RangeError);
  }
  assert.equal(new script.Response(null, { status: "404" }).status, 404);
  assert.throws(() => new script.Response(null, { headers: { "a b": "c" } }), TypeError);
  assert.throws(() => new script.Response(null, { headers: { a: "b\nc" } }), TypeError);
  assert.throws(() => new script.Response(null, { statusText: "a\nb" }), TypeError);
  assert.throws(() => new script.Response(null, 5), TypeError);
});

test("the properties of a response, such as status and ok, have the values that the standard requires", () => {
  const response = new script.Response("x", { status: 299 });
  assert.ok(response.ok);
  assert.equal(new script.Response("x", { status: 300 }).ok, false);
  assert.deepEqual([response.type, response.url, response.redirected], ["default", "", false]);
  assert.equal(response.statusText, "");
  assert.ok(response instanceof Response && response instanceof node.Response);
  assert.ok(new node.Response() instanceof Response);
  assert.match(inspect(response), /^Response \{\n {2}status: 299/);
});

test("the body of a response can be read in every format, but only once", async () => {
  const bodies = ["grüße", Buffer.from("grüße"), streamOf("gr", "üße"), new Blob(["grüße"])];
  for (const make of bodies.map((body) => () => new script.Response(body))) {
    const response = make();
    assert.equal(await response.text(), "grüße");
    await assert.rejects(response.text(), TypeError);
    assert.throws(() => response.clone(), TypeError);
  }
  assert.deepEqual(await new script.Response('{"a":1}').json(), { a: 1 });
  assert.equal(await new script.Response("\ufeffx").text(), "x");
  assert.equal(await new script.Response("\ud800").text(), "\ufffd");
  assert.equal(await new script.Response(12).text(), "12");
  assert.equal((await new script.Response("abc").arrayBuffer()).byteLength, 3);
  const form = await new script.Response(new URLSearchParams({ a: "b c" })).formData();
  assert.equal(form.get("a"), "b c");
});

test("every kind of body reads the same as with Node's own Response", async () => {
  const value = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.uint8Array(),
    fc.string().map((text) => new URLSearchParams({ text })),
    fc.string().map((text) => new Blob([text], { type: "text/css" })),
  );
  await fc.assert(
    fc.asyncProperty(value, fc.boolean(), async (body, asStream) => {
      const ours = new script.Response(body);
      const theirs = new node.Response(body);
      assert.equal(ours.headers.get("content-type"), theirs.headers.get("content-type"));
      if (asStream) assert.ok(ours.body instanceof ReadableStream);
      const clone = ours.clone();
      assert.deepEqual(
        new Uint8Array(await ours.arrayBuffer()),
        new Uint8Array(await theirs.clone().arrayBuffer()),
      );
      assert.equal(await clone.text(), await theirs.text());
    }),
    { numRuns: 60 },
  );
});

test("changing bytes that were read from a response does not change its body", async () => {
  const response = new script.Response(new Uint8Array([1, 2, 3]));
  const clone = response.clone();
  new Uint8Array(await clone.arrayBuffer()).fill(9);
  assert.deepEqual([...(described(response).body as Uint8Array)], [1, 2, 3]);
});

test("new Response(body, response) copies status and headers of the other response", async () => {
  const first = new script.Response("x", { status: 404, statusText: "Gone", headers: { a: "1" } });
  const second = new script.Response(first.body, first);
  second.headers.set("a", "2");
  assert.equal(second.status, 404);
  assert.equal(second.statusText, "Gone");
  assert.equal(first.headers.get("a"), "1");
  assert.equal(await second.text(), "x");
  assert.ok(first.bodyUsed);
});

test("a stream that is locked or was read cannot be the body of a response", async () => {
  const locked = streamOf("x");
  locked.getReader();
  assert.throws(() => new script.Response(locked), TypeError);
  const read = streamOf("x");
  await read.cancel();
  assert.throws(() => new script.Response(read), TypeError);
});

test("reading a response whose stream has chunks other than bytes fails", async () => {
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue("text");
    },
  });
  await assert.rejects(new script.Response(stream).text(), TypeError);
});

test("Response.json, Response.redirect and Response.error create responses", async () => {
  const json = script.Response.json({ a: [1] }, { status: 201 });
  assert.equal(json.headers.get("content-type"), "application/json");
  assert.equal(json.status, 201);
  assert.deepEqual(await json.json(), { a: [1] });
  const typed = script.Response.json(1, { headers: { "content-type": "application/ld+json" } });
  assert.equal(typed.headers.get("content-type"), "application/ld+json");
  assert.throws(() => script.Response.json(undefined), TypeError);
  const redirect = script.Response.redirect("https://example.com/ä", 301);
  assert.deepEqual([redirect.status, redirect.headers.get("location")], [301, "https://example.com/%C3%A4"]);
  assert.equal(script.Response.redirect("https://example.com/", 302).status, 302);
  assert.throws(() => redirect.headers.set("a", "b"), TypeError);
  assert.throws(() => script.Response.redirect("https://example.com/", 200 as never), RangeError);
  assert.throws(() => script.Response.redirect("not a url", 302), TypeError);
  assert.deepEqual([script.Response.error().type, script.Response.error().status], ["error", 0]);
});

test("a script may derive its own class from Response", async () => {
  class Html extends script.Response {
    constructor(text: string) {
      super(text, { headers: { "content-type": "text/html" } });
    }
  }
  const response = new Html("<p>");
  assert.ok(response instanceof Html && response instanceof Response);
  assert.ok(!(new script.Response() instanceof Html));
  assert.deepEqual(described(response).pairs, [["content-type", "text/html"]]);
});
