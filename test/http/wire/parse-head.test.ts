import assert from "node:assert/strict";
import { test } from "node:test";
import { parseRequestHead, parseResponseHead } from "../../../src/http/wire/parse-head.ts";

function lines(...text: string[]): string {
  return text.map((line) => `${line}\r\n`).join("");
}

test("a request head in the common form is parsed, with headers as sent", () => {
  const head = parseRequestHead(
    lines("PUT /a%20b?c=d HTTP/1.1", "Host: example.com", "X-Text: \t caf\xe9 \t", "content-length: 12"),
  );
  assert.ok(head);
  assert.equal(head.method, "PUT");
  assert.equal(head.target, "/a%20b?c=d");
  assert.equal(head.contentLength, 12);
  assert.equal(head.byName.get("x-text"), "caf\xe9");
  assert.deepEqual(head.rawHeaders.slice(0, 4), ["Host", "example.com", "X-Text", "caf\xe9"]);
});

const start = "GET / HTTP/1.1";
const host = "Host: a";

test("a request head says whether the connection closes after the response", () => {
  const closes = (...options: string[]) => parseRequestHead(lines(start, host, ...options))?.closes;
  assert.equal(closes("Connection: Close"), true);
  assert.equal(closes("connection: Keep-Alive"), false);
  assert.equal(closes(), false);
});

const uncommon: readonly (readonly [string, string])[] = [
  ["without a host", lines(start)],
  ["of HTTP/1.0", lines("GET / HTTP/1.0", host)],
  ["of HTTP/1.10", lines("GET / HTTP/1.10", host)],
  ["with an unknown method", lines("PROPFIND / HTTP/1.1", host)],
  ["with an absolute target", lines("GET http://a/ HTTP/1.1", host)],
  ["with a space in its target", lines("GET /a b HTTP/1.1", host)],
  ["with bytes above 127 in its target", lines("GET /\xe9 HTTP/1.1", host)],
  ["with two hosts", lines(start, host, "host: b")],
  ["with two lengths", lines(start, host, "Content-Length: 1", "Content-Length: 1")],
  ["with a length that is not a number", lines(start, host, "Content-Length: 1x")],
  ["with a negative length", lines(start, host, "Content-Length: -1")],
  ["with a tab after its length", lines(start, host, "Content-Length: 1\t")],
  ["with a tab before its length", lines(start, host, "content-length:\t1")],
  ["with an empty length", lines(start, host, "Content-Length:")],
  ["with a transfer encoding", lines(start, host, "Transfer-Encoding: chunked")],
  ["with an expectation", lines(start, host, "Expect: 100-continue")],
  ["with an upgrade", lines(start, host, "Upgrade: websocket")],
  ["with a list of connection options", lines(start, host, "Connection: keep-alive, x-secret")],
  ["with a space before a colon", lines(start, "Host : a")],
  ["with a continued line", lines(start, host, " b")],
  ["with a line without a colon", lines(start, host, "nothing")],
  ["with an empty name", lines(start, host, ": value")],
  ["with a NUL", lines(start, host, "X: a\0b")],
  ["with a bare line feed", lines(start, `${host}\nX: b`)],
  ["with a bare carriage return", lines(start, `${host}\rX: b`)],
  ["with a leading line break", `\r\n${lines(start, host)}`],
];

for (const [what, text] of uncommon) {
  test(`a request head ${what} is left to Node`, () => {
    assert.equal(parseRequestHead(text), undefined);
  });
}

test("a response head is parsed, with repeated headers", () => {
  const head = parseResponseHead(lines("HTTP/1.1 200 OK then", "Set-Cookie: a", "Set-Cookie: b"));
  assert.ok(head);
  assert.equal(head.status, 200);
  assert.equal(head.statusText, "OK then");
  assert.deepEqual(head.rawHeaders, ["Set-Cookie", "a", "Set-Cookie", "b"]);
  assert.equal(head.hasRepeated, true);
});

for (const text of [
  lines("HTTP/1.0 200 OK"),
  lines("HTTP/1.1 20 OK"),
  lines("HTTP/1.1 2000 OK"),
  lines("HTTP/1.1 099 OK"),
  lines("http/1.1 200 OK"),
  lines("HTTP/1.1 200 O\0K"),
  lines("HTTP/1.1 200 OK", "a b: c"),
  lines("HTTP/1.1 200 OK", "a: b\rc: d"),
  "HTTP/1.1 200 OK\r\na: b",
  "HTTP/1.1 200 OK\r\na: b\n",
  lines("HTTP/1.1 200 OK", "a: b\nc: d"),
]) {
  test(`the response head ${JSON.stringify(text)} is refused`, () => {
    assert.equal(parseResponseHead(text), undefined);
  });
}
