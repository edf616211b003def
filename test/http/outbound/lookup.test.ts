// Lookups of names, with a DNS server on loopback.
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { createDnsLookup, createListedLookup } from "../../../src/http/outbound/lookup.ts";

const types = { 1: "A", 28: "AAAA" } as const;

const zone: Readonly<Record<string, Readonly<Record<string, readonly (readonly number[])[]>>>> = {
  "both.example.com": {
    A: [
      [93, 184, 216, 34],
      [10, 0, 0, 5],
    ],
    AAAA: [[0x20, 1, ...Array(13).fill(0), 7]],
  },
  "four.example.com": { A: [[1, 2, 3, 4]] },
};

/** Answers queries from the zone; NXDOMAIN for other names. Returns its address and the queries. */
async function startDns(t: TestContext) {
  const queries: string[] = [];
  const server = createSocket("udp4");
  server.on("message", (message, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = message[at]!; length > 0; length = message[at]!) {
      labels.push(message.toString("latin1", at + 1, at + 1 + length));
      at += length + 1;
    }
    const name = labels.join(".");
    const type = types[message.readUInt16BE(at + 1) as keyof typeof types] ?? "other";
    queries.push(`${type} ${name}`);
    const records = zone[name]?.[type] ?? [];
    const head = Buffer.alloc(12);
    message.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | (zone[name] === undefined ? 3 : 0), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    const answers = records.map((bytes) =>
      Buffer.from([0xc0, 12, 0, type === "A" ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes]),
    );
    server.send(Buffer.concat([head, message.subarray(12, at + 5), ...answers]), port, address);
  });
  server.bind(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return { servers: [`127.0.0.1:${server.address().port}`], queries };
}

test("a lookup returns the IPv4 and IPv6 addresses of a name", async (t) => {
  const lookup = createDnsLookup((await startDns(t)).servers);
  assert.deepEqual(await lookup("both.example.com"), ["93.184.216.34", "10.0.0.5", "2001::7"]);
  assert.deepEqual(await lookup("four.example.com"), ["1.2.3.4"]);
});

test("a name that does not exist has no addresses", async (t) => {
  const lookup = createDnsLookup((await startDns(t)).servers);
  assert.deepEqual(await lookup("missing.example.com"), []);
});

test("concurrent lookups of one name share a query", async (t) => {
  const { servers, queries } = await startDns(t);
  const lookup = createDnsLookup(servers);
  await Promise.all(Array.from({ length: 20 }, () => lookup("four.example.com")));
  assert.deepEqual(queries.sort(), ["A four.example.com", "AAAA four.example.com"]);
});

test("only names of the operator's list are also looked up in the hosts file", async (t) => {
  const lookup = createDnsLookup((await startDns(t)).servers);
  assert.deepEqual(await lookup("localhost"), []);
  const listed = await createListedLookup(lookup)("localhost");
  assert.ok(listed.includes("127.0.0.1") || listed.includes("::1"), listed.join());
});
