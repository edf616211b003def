// Floods of headers, endless lines, other protocols and garbage on every port: each gets at most
// one response, memory does not grow, and the next client is served.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { treeMemory } from "../support/process-tree.ts";
import { exchange, openTarget, type PortName } from "./target.ts";

const KiB = 1024;
const MiB = 1024 * KiB;

/** `allowed` matches the permitted statuses; closing without a response is always permitted. */
type Case = readonly [what: string, bytes: string | Uint8Array, allowed: RegExp];

const host = "Host: localhost\r\n";
/** Beginning of a TLS 1.2 ClientHello, followed by random bytes. */
const clientHello = Buffer.concat([Buffer.from("16030100c8010000c40303", "hex"), randomBytes(200)]);

const floods: readonly Case[] = [
  ["a header of 64 KiB", `GET /good HTTP/1.1\r\n${host}X-A: ${"a".repeat(64 * KiB)}\r\n\r\n`, /^4(00|31)$/],
  [
    "headers of 1 MiB",
    `GET /good HTTP/1.1\r\n${host}${`X-A: ${"a".repeat(1000)}\r\n`.repeat(1000)}\r\n`,
    /^431$/,
  ],
  ["10,000 tiny headers", `GET /good HTTP/1.1\r\n${host}${"a:b\r\n".repeat(10_000)}\r\n`, /^4(00|03|04|31)$/],
  ["10,000 headers without an end", `GET /good HTTP/1.1\r\n${host}${"a:b\r\n".repeat(10_000)}`, /^4\d\d$/],
  ["a request line of 1 MB", `GET /${"a".repeat(1_000_000)} HTTP/1.1\r\n${host}\r\n`, /^4(00|14|31)$/],
  ["a method of 100 kB", `${"A".repeat(100_000)} / HTTP/1.1\r\n${host}\r\n`, /^4\d\d$/],
  [
    "a chunk with 1 MB of extensions",
    `PUT /flood HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n1;${"a=b;".repeat(250_000)}\r\nx\r\n0\r\n\r\n`,
    /^(4\d\d|501)$/,
  ],
  [
    // This request may succeed, since it costs the client more than the server.
    "1,000 chunks of one byte with 1 MB of extensions",
    `PUT /tolerated HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n${`1;${"a".repeat(990)}\r\nx\r\n`.repeat(1000)}0\r\n\r\n`,
    /^(2\d\d|4\d\d|501)$/,
  ],
  [
    "trailers of 1 MB",
    `PUT /flood HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n0\r\n${`X-A: ${"a".repeat(990)}\r\n`.repeat(1000)}\r\n`,
    /^(4\d\d|501)$/,
  ],
];

const foreign: readonly Case[] = [
  ["a request with an absolute URL", `GET http://other.example/good HTTP/1.1\r\n${host}\r\n`, /^[24]\d\d$/],
  ["a request with a file:// URL", `GET file:///etc/passwd HTTP/1.1\r\n${host}\r\n`, /^4\d\d$/],
  ["a request with OPTIONS *", `OPTIONS * HTTP/1.1\r\n${host}\r\n`, /^[245]\d\d$/],
  ["a CONNECT request", `CONNECT 127.0.0.1:22 HTTP/1.1\r\n${host}\r\n`, /^[45]\d\d$/],
  ["a TRACE request", `TRACE / HTTP/1.1\r\n${host}Cookie: secret\r\n\r\n`, /^[45]\d\d$/],
  ["an HTTP/0.9 request", "GET /good\r\n", /^400$/],
  ["an HTTP/2 preface without TLS", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", /^[45]\d\d$/],
  [
    "an upgrade to HTTP/2",
    `GET /missing HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`,
    /^4\d\d$/,
  ],
  [
    "an upgrade to a WebSocket",
    `GET /missing HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAA\r\n\r\n`,
    /^4\d\d$/,
  ],
  ["a request without a Host header", "GET /good HTTP/1.1\r\n\r\n", /^4\d\d$/],
  ["a request with two Host headers", `GET /missing HTTP/1.1\r\n${host}Host: other\r\n\r\n`, /^4\d\d$/],
  ["a TLS ClientHello", clientHello, /^400$/],
  ["64 KiB of random bytes", randomBytes(64 * KiB), /^4\d\d$/],
  ["64 KiB of NUL bytes", Buffer.alloc(64 * KiB), /^400$/],
  ["64 KiB of newlines", "\r\n".repeat(32 * KiB), /^4\d\d$/],
  ["one byte", "G", /^400$/],
  ["an SSH banner", "SSH-2.0-OpenSSH_9.6\r\n", /^400$/],
];

/** Limit on lasting memory growth, which does not depend on the size of a flood. */
const maxGrowth = 64 * MiB;

for (const [title, cases] of [
  ["floods of headers, request lines and chunks on any port do not raise memory lastingly", floods],
  ["other protocols, noise and unusual requests on any port do not crash the server", foreign],
] as const) {
  test(`${title}, and the next client is served`, async (t) => {
    const target = await openTarget(t);
    await target.assertServes();
    const before = treeMemory(target.server.pid);
    for (const name of Object.keys(target.ports) as PortName[]) {
      await t.test(`attacks on the ${name} port get at most one response`, async (t) => {
        for (const [what, bytes, allowed] of cases) {
          await t.test(
            `the ${name} port sends at most one response, with an allowed status, to ${what}`,
            async () => {
              const { statuses, text } = await exchange(target.ports[name], bytes);
              assert.ok(statuses.length <= 1, `at most one response, not ${statuses.join(", ")}`);
              for (const status of statuses) assert.match(String(status), allowed, text.slice(0, 300));
              assert.doesNotMatch(text, /secret|root:/, "the response contains no secret and no file");
              await target.assertServes(name);
            },
          );
        }
      });
    }
    assert.equal(
      (await target.call({ method: "HEAD", path: "/bucket/flood" })).status,
      404,
      "nothing is stored",
    );
    const growth = treeMemory(target.server.pid) - before;
    assert.ok(growth < maxGrowth, `memory has grown by ${Math.round(growth / MiB)} MiB`);
    target.assertSameProcesses();
  });
}
