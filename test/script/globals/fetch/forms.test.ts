// Forms, blobs and files as bodies: content types, lengths and reading them back.
import assert from "node:assert/strict";
import { test } from "node:test";
import { declaredLength } from "../../../../src/binding/fixed-length-stream.ts";
import { node, script } from "../installed.ts";

const { Request, Response } = script;

function sampleForm(): FormData {
  const form = new FormData();
  form.append("name", "wörld\nnext");
  form.append('q"uote', "a");
  form.append("file", new File(["<b>"], 'a"b\n.html', { type: "text/html" }));
  form.append("file", new Blob([new Uint8Array([0, 255])]), "raw");
  return form;
}

async function checkForm(form: FormData): Promise<void> {
  assert.equal(form.get("name"), "wörld\r\nnext");
  assert.equal(form.get('q"uote'), "a");
  const [first, second] = form.getAll("file") as File[];
  assert.deepEqual([first!.name, first!.type, await first!.text()], ['a"b\n.html', "text/html", "<b>"]);
  assert.deepEqual([second!.name, second!.type], ["raw", "application/octet-stream"]);
  assert.deepEqual(new Uint8Array(await second!.arrayBuffer()), new Uint8Array([0, 255]));
}

test("a FormData body is sent with its boundary and length, and is read back complete", async () => {
  const response = new Response(sampleForm());
  assert.match(response.headers.get("content-type")!, /^multipart\/form-data; boundary=\S+$/);
  const length = declaredLength(response.body!);
  const copy = response.clone();
  assert.equal((await copy.arrayBuffer()).byteLength, length);
  await checkForm(await response.formData());
  await checkForm(await new Request("http://a/", { method: "POST", body: sampleForm() }).formData());
});

test("forms written by Store's classes are readable by Node's classes, and vice versa", async () => {
  const ours = new Response(sampleForm());
  const headers = { "content-type": ours.headers.get("content-type")! };
  await checkForm(await new node.Response(await ours.arrayBuffer(), { headers }).formData());
  const theirs = new node.Response(sampleForm());
  await checkForm(await new Response(theirs.body, { headers: theirs.headers }).formData());
});

test("a URLSearchParams body is sent as a form and is readable with formData", async () => {
  const request = new Request("http://a/", {
    method: "POST",
    body: new URLSearchParams({ a: "1 2", b: "ü" }),
  });
  assert.equal(request.headers.get("content-type"), "application/x-www-form-urlencoded;charset=UTF-8");
  assert.deepEqual(
    [...(await request.formData())],
    [
      ["a", "1 2"],
      ["b", "ü"],
    ],
  );
});

test("a Blob body sets content type and length, and blob() returns it with its content type", async () => {
  const response = new Response(new File(["abc"], "a.css", { type: "text/css" }));
  assert.equal(response.headers.get("content-type"), "text/css");
  assert.equal(declaredLength(response.body!), 3);
  const blob = await response.blob();
  assert.deepEqual([blob.type, blob.size], ["text/css", 3]);
  assert.equal(
    (await new Response("x", { headers: { "content-type": "TEXT/Plain" } }).blob()).type,
    "text/plain",
  );
});

test("formData on a body that is not a form throws a TypeError", async () => {
  await assert.rejects(new Response("x").formData(), TypeError);
  await assert.rejects(
    new Response("x", { headers: { "content-type": "multipart/form-data" } }).formData(),
    TypeError,
  );
});

test("a stream of fixed length keeps its length in a request and a response", () => {
  for (const make of [
    (body: ReadableStream) => new Response(body),
    (body: ReadableStream) => new Request("http://a/", { method: "POST", body }),
    (body: ReadableStream) => new Request(new Request("http://a/", { method: "POST", body })),
    (body: ReadableStream) => new Response(body).clone(),
  ]) {
    assert.equal(declaredLength(make(new script.FixedLengthStream(5).readable).body!), 5);
  }
});

test("textStream decodes a body and yields its text in chunks as they arrive", async () => {
  const bytes = Buffer.from("grüße");
  const body = new Blob([bytes.subarray(0, 3), bytes.subarray(3)]);
  const response = new Response(body) as Response & { textStream(): ReadableStream<string> };
  const pieces: string[] = [];
  for await (const piece of response.textStream()) pieces.push(piece);
  assert.equal(pieces.join(""), "grüße");
  assert.ok(response.bodyUsed);
  assert.throws(() => response.textStream(), TypeError);
});
