// Tests the global scope of scripts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openStore } from "../../../src/open.ts";
import { describeResponse } from "../../../src/script/globals/fetch/response.ts";
import { incoming, script, streamOf } from "./installed.ts";

test("the globals of scripts are defined, writable and not enumerable", () => {
  const names = ["Cache", "CacheStorage", "FixedLengthStream", "HTMLRewriter", "Headers"];
  for (const name of [...names, "IdentityTransformStream", "Request", "Response"]) {
    const descriptor = Object.getOwnPropertyDescriptor(globalThis, name)!;
    assert.equal(typeof descriptor.value, "function", name);
    assert.deepEqual(
      [descriptor.enumerable, descriptor.writable, descriptor.configurable],
      [false, true, true],
    );
  }
  assert.equal(script.navigator.userAgent, "Store");
  assert.equal(typeof script.caches.default.match, "function");
  assert.equal(script.fetch.name, "fetch");
});

test("an IdentityTransformStream passes bytes through and refuses other chunks", async () => {
  const { readable, writable } = new script.IdentityTransformStream();
  const [text] = await Promise.all([
    new script.Response(readable).text(),
    streamOf("a", "b").pipeTo(writable),
  ]);
  assert.equal(text, "ab");
  const refusing = new script.IdentityTransformStream();
  const reading = assert.rejects(refusing.readable.getReader().read(), TypeError);
  await assert.rejects(refusing.writable.getWriter().write("text" as never), /TextEncoder/);
  await reading;
});

test("an IdentityTransformStream applies backpressure until it is read", async () => {
  const { readable, writable } = new script.IdentityTransformStream();
  const writer = writable.getWriter();
  let written = 0;
  const writing = (async () => {
    for (; written < 5; written++) await writer.write(new Uint8Array(1));
    await writer.close();
  })();
  await new Promise(setImmediate);
  assert.ok(written < 2, `${written} chunks were accepted before the first read`);
  assert.equal((await new script.Response(readable).arrayBuffer()).byteLength, 5);
  await writing;
});

test("a FixedLengthStream fails when more or fewer bytes than announced are written", async () => {
  const { readable, writable } = new script.FixedLengthStream(1);
  const reading = assert.rejects(new script.Response(readable).text(), TypeError);
  await assert.rejects(streamOf("ab").pipeTo(writable), TypeError);
  await reading;
});

test("WebAssembly modules can be compiled from a response", async () => {
  const bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
  const response = new script.Response(bytes, { headers: { "content-type": "application/wasm" } });
  assert.ok((await script.WebAssembly.compileStreaming(response)) instanceof script.WebAssembly.Module);
});

test("a bucket stores the body and headers of a request, and a Response can send the stored object", async () => {
  const store = await openStore("memory:");
  await store.createBucket("photos");
  const bucket = store.bucket("photos");
  const request = incoming({
    method: "PUT",
    rawHeaders: ["Content-Type", "text/plain", "Content-Disposition", 'attachment; filename="é.txt"'],
    body: () => streamOf("bytes"),
  });
  await bucket.put("a", request.body, { httpMetadata: request.headers });
  const object = await bucket.get("a", { onlyIf: incoming().headers, range: incoming().headers });
  assert.ok(object !== null && "body" in object);
  const headers = new script.Headers();
  object.writeHttpMetadata(headers as unknown as Headers);
  assert.equal(headers.get("content-disposition"), 'attachment; filename="é.txt"');
  headers.set("etag", object.httpEtag);
  const description = describeResponse(new script.Response(object.body, { headers }));
  assert.equal(description.body, object.body);
  const sent = new Map(description.headers);
  assert.equal(
    Buffer.from(sent.get("content-disposition")!, "latin1").toString(),
    'attachment; filename="é.txt"',
  );
  assert.equal(await new script.Response(description.body).text(), "bytes");
  await store.close();
});
