// Valid requests to be mutated: every kind that S3 clients and visitors of a script send.
import { encodeText } from "../../../src/http/sigv4.ts";
import { boundary, encodeForm, signedFields } from "../../s3/form.ts";
import { type Raw, type Signed, signChunked, signRaw } from "../../s3/raw.ts";
import type { Key } from "../../s3/scene.ts";

function wireText({ method, path, query = [], headers = {}, body }: Raw): string {
  const pairs = query.map(([name, value]) => `${encodeText(name)}=${encodeText(value)}`).join("&");
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  if (body !== undefined) lines.push(`content-length: ${body.length}`);
  const target = pairs === "" ? path : `${path}?${pairs}`;
  const text = body === undefined ? "" : Buffer.from(body).toString("latin1");
  return [`${method} ${target} HTTP/1.1`, ...lines, "", text].join("\r\n");
}

const text = (body: string) => Buffer.from(body);

const calls: readonly Raw[] = [
  { method: "PUT", path: "/bucket/a", body: text("hello"), headers: { "x-amz-meta-a": "b" } },
  { method: "GET", path: "/bucket/a", headers: { range: "bytes=0-2", origin: "http://page" } },
  { method: "HEAD", path: "/bucket/a" },
  { method: "DELETE", path: "/bucket/a" },
  {
    method: "GET",
    path: "/bucket",
    query: [
      ["list-type", "2"],
      ["max-keys", "3"],
    ],
  },
  { method: "GET", path: "/bucket", query: [["uploads", ""]] },
  { method: "POST", path: "/bucket/m", query: [["uploads", ""]] },
  {
    method: "POST",
    path: "/bucket",
    query: [["delete", ""]],
    body: text("<Delete><Object><Key>a</Key></Object></Delete>"),
  },
  { method: "PUT", path: "/bucket/b", headers: { "x-amz-copy-source": "bucket/a" } },
  { method: "PUT", path: "/bucket", query: [["cors", ""]], body: text("<CORSConfiguration/>") },
];

/** Returns the request with its body in HTTP chunked encoding. */
function inChunks(signed: Signed): string {
  const whole = wireText({ ...signed, body: new Uint8Array() });
  return whole
    .replace(/content-length: 0\r\n/, "transfer-encoding: chunked\r\n")
    .concat("5\r\nhello\r\n0\r\n\r\n");
}

export function s3Samples(url: string, key: Key): string[] {
  const put: Raw = { method: "PUT", path: "/bucket/c" };
  const signed = calls.flatMap((raw) =>
    (["header", "query"] as const).map((form) => wireText(signRaw(url, raw, { key, form }))),
  );
  const streamed = ["STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"].map(
    (form) => wireText(signChunked(url, { ...put, body: text("chunks") }, key, form)),
  );
  const form = encodeForm(signedFields({ key, bucket: "bucket" }));
  const { host } = new URL(url);
  return [
    ...signed,
    ...streamed,
    inChunks(signRaw(url, put, { key, form: "query" })),
    wireText({ ...signRaw(url, put, { key, form: "query" }), body: text("x") }).replace(
      "\r\n",
      "\r\nexpect: 100-continue\r\n",
    ),
    wireText({
      method: "POST",
      path: "/bucket",
      headers: { host, "content-type": `multipart/form-data; boundary=${boundary}` },
      body: text(form),
    }),
    wireText({
      method: "OPTIONS",
      path: "/bucket/a",
      headers: { host, origin: "http://a", "access-control-request-method": "PUT" },
    }),
  ];
}

export function scriptSamples(url: string): string[] {
  const { host } = new URL(url);
  return [
    wireText({ method: "GET", path: "/a?b=c", headers: { host, accept: "*/*", cookie: "a=b" } }),
    wireText({ method: "HEAD", path: "/a", headers: { host } }),
    wireText({
      method: "POST",
      path: "/echo",
      headers: { host, "content-type": "text/plain" },
      body: text("hello"),
    }),
    `POST /echo HTTP/1.1\r\nhost: ${host}\r\ntransfer-encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nx-t: y\r\n\r\n`,
    wireText({
      method: "PUT",
      path: "/put",
      headers: { host, expect: "100-continue" },
      body: text("stored"),
    }),
    wireText({
      method: "GET",
      path: "/headers",
      headers: { host, connection: "upgrade", upgrade: "websocket" },
    }),
    wireText({ method: "GET", path: "http://other/a", headers: { host } }),
  ];
}

export const wireTokens = [
  ...[
    "HTTP/1.1",
    "HTTP/1.0",
    "\r\n\r\n",
    "\r\n",
    "content-length: ",
    "transfer-encoding: chunked\r\n",
    "connection: close\r\n",
  ],
  ...[
    "0\r\n\r\n",
    "host: a\r\n",
    "expect: 100-continue\r\n",
    "upgrade: h2c\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "\x16\x03\x01",
  ],
  ...[
    "GET ",
    "CONNECT a:1 ",
    "TRACE ",
    "range: bytes=",
    "x-amz-",
    "authorization: ",
    "?",
    "%00",
    "chunked, chunked",
  ],
];
