import assert from "node:assert/strict";
import { test } from "node:test";
import { hostFault, parseOutbound } from "../../../src/script/config/check-isolation.ts";
import { project, refusals } from "../../support/projects.ts";

const least = 'name = "a"\nmain = "src/index.ts"\ncompatibility_date = "2026-11-01"\n';

test("isolation and outbound are read, and have safe defaults", async (t) => {
  const { read } = await project(t);
  const plain = await read("store.toml", least);
  assert.deepEqual([plain.isolation, plain.outbound], ["process", "none"]);
  const open = await read("store.toml", `${least}isolation = "sandbox"\noutbound = "public"\n`);
  assert.deepEqual([open.isolation, open.outbound], ["sandbox", "public"]);
  const listed = await read(
    "store.toml",
    `${least}isolation = "sandbox"\noutbound = ["api.example.com:8443", "*.example.org", "10.0.0.5", "::1"]\n`,
  );
  assert.deepEqual(listed.outbound, ["api.example.com:8443", "*.example.org", "10.0.0.5", "::1"]);
});

test("each error in isolation and outbound is reported with position, reason and fix", async (t) => {
  await refusals(t, await project(t), "store.toml", [
    {
      what: "a mistyped isolation",
      text: `${least}isolation = "sandboxx"\n`,
      at: "4:13",
      says: ["did you mean sandbox?", 'isolation = "sandbox"'],
    },
    {
      what: "an isolation of another type",
      text: `${least}isolation = true\n`,
      at: "4:13",
      says: ["a string, not a boolean"],
    },
    {
      what: "a mistyped word of outbound",
      text: `${least}isolation = "sandbox"\noutbound = "publik"\n`,
      at: "5:12",
      says: ['"none", "public" or a list of hosts', 'Write: outbound = "public"'],
    },
    {
      what: "one host that is not in a list",
      text: `${least}isolation = "sandbox"\noutbound = "api.example.com"\n`,
      at: "5:12",
      says: ['Write: outbound = ["api.example.com"]'],
    },
    {
      what: "a URL in outbound",
      text: `${least}isolation = "sandbox"\noutbound = ["https://api.example.com"]\n`,
      at: "5:13",
      says: ["is a URL", "without a scheme"],
    },
    {
      what: "outbound without a sandbox",
      text: `${least}outbound = "public"\n`,
      at: "4:1",
      says: ["has an effect only in a sandbox", 'isolation = "sandbox"'],
    },
  ]);
});

test("hosts of outbound are checked", () => {
  for (const host of [
    "localhost",
    "a.b",
    "*.a.b",
    "a_b.c",
    "1.2.3.4",
    "[::1]:80",
    "xn--bcher-kva.example.",
  ]) {
    assert.equal(hostFault(host), undefined, host);
  }
  for (const host of [
    "",
    "*",
    "*.com",
    "a..b",
    "a b",
    "a/b",
    "a:0",
    "a:99999",
    "*.1.2.3.4",
    "-a.b",
    "a\n",
    "é.com",
  ]) {
    assert.match(hostFault(host) ?? "", /is not a host/, JSON.stringify(host));
  }
});

test("values of --outbound are a word or hosts", () => {
  assert.equal(parseOutbound(["public"]), "public");
  assert.deepEqual(parseOutbound(["a.b", "*.c.d"]), ["a.b", "*.c.d"]);
  assert.throws(() => parseOutbound(["public", "a.b"]), RangeError);
  assert.throws(() => parseOutbound(["http://a.b"]), RangeError);
});
