// Tests that every kind of body stays complete when scripts read, wrap, clone, split, pipe or store
// it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { declaredLength } from "../../../../src/binding/fixed-length-stream.ts";
import { openStore, type Store, type StoreBucket } from "../../../../src/index.ts";
import { describeResponse } from "../../../../src/script/globals/fetch/response.ts";
import { node, script, streamOf } from "../installed.ts";

const text = "hello, wörld";
const bytes = () => new Uint8Array(Buffer.from(text));

/** Kinds of bodies. Each function creates a body that reads as `text`. */
const kinds: Readonly<Record<string, () => unknown>> = {
  "a string": () => text,
  "a Uint8Array": bytes,
  "a view of a larger buffer": () => new Uint8Array(Buffer.from(`<${text}>`)).subarray(1, -1),
  "an ArrayBuffer": () => bytes().buffer,
  "a Blob": () => new Blob([text]),
  "a stream": () => streamOf("hello, ", "wörld"),
  "a stream of known length": () => fixed(bytes()),
  "the body of a Response": () => new script.Response(text).body,
  "the body of a Request": () => new script.Request("http://a/", { method: "POST", body: text }).body,
  "the body of Node's own Response": () => new node.Response(text).body,
};

function fixed(value: Uint8Array): ReadableStream<Uint8Array> {
  const { readable, writable } = new script.FixedLengthStream(value.length);
  const writer = writable.getWriter();
  void writer.write(value).then(() => writer.close());
  return readable;
}

function post(body: unknown): Request {
  return new script.Request("http://a.example/", { method: "POST", body });
}

/** Ways in which scripts pass a body on. Each function returns a message with the same body. */
const ways: Readonly<Record<string, (message: Request | Response) => Request | Response>> = {
  "not wrapped": (message) => message,
  "wrapped by a Response": (message) => new script.Response(message.body, { headers: message.headers }),
  "wrapped twice": (message) => new script.Response(new script.Response(message.body).body),
  "wrapped by a Request": (message) => post(message.body),
  "wrapped by Node's own Response": (message) => new node.Response(message.body),
  cloned: (message) => message.clone(),
  "cloned after its body was accessed": (message) => {
    assert.ok(message.body instanceof ReadableStream);
    return message.clone();
  },
  "read after it was cloned": (message) => {
    void message.clone();
    return message;
  },
  "split by tee": (message) => new script.Response(message.body!.tee()[1]),
  "piped through a TransformStream": (message) =>
    new script.Response(message.body!.pipeThrough(new TransformStream())),
  "piped through an IdentityTransformStream": (message) =>
    new script.Response(message.body!.pipeThrough(new script.IdentityTransformStream())),
  "compressed and decompressed": (message) => {
    const packed = message.body!.pipeThrough(new CompressionStream("gzip") as never);
    return new script.Response(packed.pipeThrough(new DecompressionStream("gzip") as never));
  },
};

let store: Store;
let bucket: StoreBucket;
before(async () => {
  store = await openStore("memory:");
  await store.createBucket("bucket");
  bucket = store.bucket("bucket");
});
after(() => store.close());

for (const [kind, value] of Object.entries(kinds)) {
  for (const [way, take] of Object.entries(ways)) {
    test(`a body made from ${kind} and ${way} is complete when it is read, stored and sent`, async () => {
      for (const make of [() => new script.Response(value()), () => post(value())]) {
        assert.equal(await take(make()).text(), text);
        const object = await bucket.put("key", take(make()).body);
        assert.equal(object.size, Buffer.byteLength(text));
        assert.equal(await (await bucket.get("key"))?.text(), text);
        const sent = describeResponse(new script.Response(take(make()).body)).body as ReadableStream;
        assert.ok([undefined, Buffer.byteLength(text)].includes(declaredLength(sent)));
        assert.equal(await new node.Response(sent).text(), text);
      }
    });
  }
}

test("a body made from FormData or URLSearchParams is complete when it is wrapped and stored", async () => {
  const form = new FormData();
  form.set("name", "wörld");
  form.set("file", new Blob([text]), "file.txt");
  const first = new script.Response(form);
  const wrapped = await new script.Response(first.body, first).formData();
  assert.equal(wrapped.get("name"), "wörld");
  assert.equal(await (wrapped.get("file") as File).text(), text);
  assert.ok((await bucket.put("form", new script.Response(form).body)).size > text.length);

  const query = new script.Response(new URLSearchParams({ name: "a b" }));
  assert.equal((await new script.Response(query.body, query).formData()).get("name"), "a b");
});

test("a body made from text, bytes or a Blob keeps its length when another message wraps it", () => {
  for (const value of [text, bytes(), new Blob([text])]) {
    const { body } = describeResponse(new script.Response(new script.Response(value).body));
    assert.equal(declaredLength(body as ReadableStream), Buffer.byteLength(text));
  }
  const json = script.Response.json({ a: 1 });
  const { body } = describeResponse(new script.Response(json.body, json));
  assert.equal(declaredLength(body as ReadableStream), 7);
});

test("a Response or Request with the body of a stored object has all its bytes and its length", async () => {
  await bucket.put("key", text);
  for (const make of [(body: unknown) => new script.Response(body), post]) {
    const object = (await bucket.get("key"))!;
    const message = make(object.body);
    assert.equal(declaredLength(message.body!), Buffer.byteLength(text));
    assert.equal(await message.text(), text);
  }
  const copied = await bucket.put("copy", (await bucket.get("key"))!.body);
  assert.equal(copied.size, Buffer.byteLength(text));
});

test("the rest of a partially read body can be stored", async () => {
  const { body } = new script.Response(fixed(bytes()));
  const source = body!.pipeThrough(new script.FixedLengthStream(Buffer.byteLength(text)));
  const object = new script.Response("first").body!;
  const reader = object.getReader();
  await reader.read();
  reader.releaseLock();
  assert.equal((await bucket.put("rest", object)).size, 0);
  assert.equal((await bucket.put("whole", source)).size, Buffer.byteLength(text));
});

test("an empty body stays empty when passed to a new Response, and is allowed with status 204", async () => {
  for (const value of ["", new Uint8Array(), new Blob([])]) {
    const first = new script.Response(value);
    assert.equal(await new script.Response(first.body, first).text(), "");
    assert.equal((await bucket.put("empty", new script.Response(value).body)).size, 0);
    assert.equal(new script.Response(new script.Response(value).body, { status: 204 }).body, null);
  }
});

test("a body compressed by CompressionStream can be stored and decompressed", async () => {
  const packed = new script.Response(text).body!.pipeThrough(new CompressionStream("gzip") as never);
  await bucket.put("packed", packed as ReadableStream<Uint8Array>);
  const stored = await (await bucket.get("packed"))!.bytes();
  assert.equal(gunzipSync(stored).toString(), text);
});
