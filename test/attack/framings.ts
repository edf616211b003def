// Requests with ambiguous framing that hide a second request in their body, and pairs of requests for
// every port to hide it with.
import type { PortName, Target } from "./target.ts";

/** A first request without framing headers, and a second request that must never be executed. */
export interface Pair {
  readonly first: string;
  readonly second: string;
}

export function requestPairs({ presigned, url }: Target): Readonly<Record<PortName, Pair>> {
  const head = (line: string) => `${line} HTTP/1.1\r\nHost: ${new URL(url).host}\r\n`;
  const whole = (line: string) => `${head(line)}Content-Length: 0\r\n\r\n`;
  return {
    s3: {
      first: head(`PUT ${presigned("PUT", "/bucket/first")}`),
      second: whole(`PUT ${presigned("PUT", "/bucket/smuggled")}`),
    },
    script: { first: head("PUT /first"), second: whole("PUT /smuggled") },
    console: { first: head("POST /api/session"), second: whole("GET /healthz") },
    public: { first: head("GET /site/hello"), second: whole("GET /site/hello") },
  };
}

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

/** Framing headers and body of the first request; the second request is hidden in the body. */
export const framings: Readonly<Record<string, (second: string) => string>> = {
  "Content-Length before chunked": (second) =>
    `Content-Length: ${second.length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${second}`,
  "chunked before Content-Length": (second) =>
    `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n${chunk(second)}0\r\n\r\n`,
  "gzip, chunked": (second) => `Transfer-Encoding: gzip, chunked\r\n\r\n${chunk(second)}0\r\n\r\n`,
  "an unknown Transfer-Encoding": (second) => `Transfer-Encoding: xchunked\r\n\r\n${second}`,
  "a coding after chunked": (second) => `Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${second}`,
  "two Transfer-Encoding headers": (second) =>
    `Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${second}`,
  "chunked twice": (second) => `Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n${second}`,
  "a space after the name Transfer-Encoding": (second) =>
    `Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${second}`,
  "Transfer-Encoding in a folded line": (second) =>
    `X-A: a\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${second}`,
  "a vertical tab before chunked": (second) => `Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n${second}`,
  "two Content-Length headers": (second) =>
    `Content-Length: 0\r\nContent-Length: ${second.length}\r\n\r\n${second}`,
  "a list of numbers in Content-Length": (second) => `Content-Length: 0, ${second.length}\r\n\r\n${second}`,
  "a Content-Length with a sign": (second) => `Content-Length: +0\r\n\r\n${second}`,
  "a negative Content-Length": (second) => `Content-Length: -1\r\n\r\n${second}`,
  "a hexadecimal Content-Length": (second) => `Content-Length: 0x0\r\n\r\n${second}`,
  "a Content-Length that overflows": (second) => `Content-Length: 18446744073709551616\r\n\r\n${second}`,
  "a Content-Length that contains a space": (second) => `Content-Length: 0 0\r\n\r\n${second}`,
  "a tab after Content-Length": (second) => `Content-Length: 0\t\r\n\r\n${second}`,
  "a negative chunk": (second) => `Transfer-Encoding: chunked\r\n\r\n-1\r\n${second}`,
  "a chunk's size that starts with 0x": (second) => `Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n${second}`,
  "a chunk's size that overflows": (second) =>
    `Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n${second}`,
  "a chunk's size that wraps to 0": (second) =>
    `Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n\r\n${second}`,
  "a chunk larger than its size": (second) =>
    `Transfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n0\r\n\r\n${second}`,
  "a chunk's size ended by LF": (second) => `Transfer-Encoding: chunked\r\n\r\n0\n\n${second}`,
  "a folded header": (second) => `X-A: a\r\n b: c\r\nContent-Length: 0\r\nX-A\r\n\r\n${second}`,
  "a bare LF inside a header": (second) => `X-A: a\nContent-Length: ${second.length}\r\nX-B\r\n\r\n${second}`,
  "a bare CR inside a header": (second) => `X-A: a\rContent-Length: 0\r\n\r\n${second}`,
  "NUL in a header's value": (second) => `X-A: a\0b\r\nContent-Length: 0\r\n\r\n${second}`,
  "NUL in a header's name": (second) => `X\0A: a\r\nContent-Length: 0\r\n\r\n${second}`,
  "a header without a colon": (second) => `X-A\r\nContent-Length: 0\r\n\r\n${second}`,
  "a header without a name": (second) => `: a\r\nContent-Length: 0\r\n\r\n${second}`,
};
