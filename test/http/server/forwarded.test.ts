// Forwarding headers: which proxies are trusted to name the client.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTrustedPeers, resolveSender } from "../../../src/http/server/forwarded.ts";

const proxies = parseTrustedPeers(["10.0.0.0/8", "192.0.2.7", "fd00::/8"]);

function resolved(peer: string, headers: Record<string, string>): string {
  const { address, scheme, host } = resolveSender(
    { address: peer, scheme: "http", host: undefined },
    headers,
    proxies,
  );
  return [address, scheme, host ?? "-"].join(" ");
}

test("forwarding headers are followed through trusted proxies back to the first untrusted address", () => {
  const cases: readonly [peer: string, headers: Record<string, string>, expected: string][] = [
    ["203.0.113.9", { "x-forwarded-for": "1.1.1.1", "x-forwarded-proto": "https" }, "203.0.113.9 http -"],
    ["203.0.113.9", { forwarded: "for=1.1.1.1;proto=https;host=a" }, "203.0.113.9 http -"],
    ["", { "x-forwarded-for": "1.1.1.1" }, " http -"],
    ["10.1.2.3", {}, "10.1.2.3 http -"],
    ["10.1.2.3", { "x-forwarded-for": "1.1.1.1" }, "1.1.1.1 http -"],
    ["fd00::1", { "x-forwarded-for": "2001:db8::1" }, "2001:db8::1 http -"],
    [
      "192.0.2.7",
      { "x-forwarded-proto": "https", "x-forwarded-host": "a.example" },
      "192.0.2.7 https a.example",
    ],
    // A header sent by the client comes before the entries that proxies append.
    ["10.1.2.3", { "x-forwarded-for": "6.6.6.6, 1.1.1.1, 10.0.0.2" }, "1.1.1.1 http -"],
    ["10.1.2.3", { "x-forwarded-for": "10.0.0.1, 10.0.0.2" }, "10.0.0.1 http -"],
    ["10.1.2.3", { "x-forwarded-proto": "http, https" }, "10.1.2.3 https -"],
    ["10.1.2.3", { "x-forwarded-proto": "gopher" }, "10.1.2.3 http -"],
    ["10.1.2.3", { "x-forwarded-for": "1.1.1.1:4711" }, "1.1.1.1 http -"],
    ["10.1.2.3", { "x-forwarded-for": "[2001:db8::1]:80" }, "2001:db8::1 http -"],
    ["10.1.2.3", { "x-forwarded-for": "1.1.1.1, unknown" }, "10.1.2.3 http -"],
    ["10.1.2.3", { "x-forwarded-for": "::ffff:1.1.1.1" }, "1.1.1.1 http -"],
    ["10.1.2.3", { forwarded: 'For="[2001:db8::1]:80";Proto=https;host=a' }, "2001:db8::1 https a"],
    ["10.1.2.3", { forwarded: "for=6.6.6.6;host=evil, for=1.1.1.1;host=a, for=10.0.0.2" }, "1.1.1.1 http a"],
    ["10.1.2.3", { forwarded: "for=_hidden;proto=https" }, "10.1.2.3 https -"],
    // A proxy sets one of the two headers and may forward the client's value of the other header.
    ["10.1.2.3", { forwarded: "for=6.6.6.6;host=evil", "x-forwarded-for": "1.1.1.1" }, "1.1.1.1 http -"],
  ];
  for (const [peer, headers, expected] of cases) {
    assert.equal(resolved(peer, headers), expected, JSON.stringify([peer, headers]));
  }
  for (const wrong of [
    "",
    "10.0.0",
    "10.0.0.0/33",
    "fd00::/129",
    "example.com",
    "10.0.0.0/8/8",
    "10.0.0.0/x",
  ]) {
    assert.throws(() => parseTrustedPeers([wrong]), RangeError, wrong);
  }
});
