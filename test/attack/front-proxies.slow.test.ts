// nginx and haproxy in front of every port, with connections to the server that all clients share:
// nobody gets the response of another client's request, and a hidden request is not executed.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type RawAnswer, sendRaw } from "../s3/raw.ts";
import { framings, requestPairs } from "./framings.ts";
import { installProxies, proxyNames, startProxy } from "./front-proxies.ts";
import { type Exchanged, exchange, openTarget, type PortName, type Target } from "./target.ts";

const missing = installProxies();
const victims = ["first victim", "second victim", "third victim"];
const KiB = 1024;

interface Front {
  readonly target: Target;
  readonly ports: Readonly<Record<PortName, number>>;
}

/** What each port answers to a read of the victim's own text. */
function readOf({ target, ports }: Front, name: PortName, victim: string): Promise<RawAnswer> {
  const url = `http://127.0.0.1:${ports[name]}`;
  const { host } = new URL(target.url);
  const path = `/bucket/${encodeURIComponent(victim)}`;
  if (name === "script")
    return sendRaw(url, { method: "GET", path: "/echo", query: [[victim.replace(" ", "-"), ""]] });
  if (name === "s3")
    return sendRaw(url, { method: "GET", path: target.presigned("GET", path), headers: { host } });
  if (name === "public") return sendRaw(url, { method: "GET", path: `/site/${encodeURIComponent(victim)}` });
  return sendRaw(url, { method: "GET", path: "/healthz" });
}

async function assertOwnAnswers(front: Front, name: PortName, what: string): Promise<void> {
  const answers = await Promise.all(victims.map((victim) => readOf(front, name, victim)));
  answers.forEach(({ status, text }, i) => {
    assert.equal(status, 200, `${what}: ${victims[i]} got ${status} ${text.slice(0, 200)}`);
    if (name === "console") return;
    const own = name === "script" ? victims[i]!.replace(" ", "-") : victims[i]!;
    assert.ok(text.startsWith(own), `${what}: ${own} got ${text.slice(0, 200)}`);
  });
}

/** Requests that a server answers before it has read them, or without a body of its own. */
function earlyAnswers({ presigned, url }: Target): Readonly<Record<string, string>> {
  const { host } = new URL(url);
  const lines = (line: string, ...further: string[]) =>
    [`${line} HTTP/1.1`, `Host: ${host}`, ...further, "", ""].join("\r\n");
  const body = "x".repeat(300 * KiB);
  const length = `Content-Length: ${body.length}`;
  const chunked = "Transfer-Encoding: chunked";
  const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  return {
    "a refused upload": lines("PUT /bucket/refused", length) + body,
    "a refused upload in chunks": lines("PUT /bucket/refused", chunked) + chunks,
    "a refused upload that expects 100": lines("PUT /bucket/refused", length, "Expect: 100-continue") + body,
    "a refused upload that ends early": lines("PUT /bucket/refused", length) + body.slice(0, 9 * KiB),
    "a GET with a body": lines(`GET ${presigned("GET", "/bucket/missing")}`, length) + body,
    "a HEAD of a missing object": lines(`HEAD ${presigned("HEAD", "/bucket/missing")}`),
    "a HEAD with a body": `${lines(`HEAD ${presigned("HEAD", "/bucket/missing")}`, "Content-Length: 5")}hello`,
    "an upgrade to HTTP/2": lines(
      "GET /",
      "Connection: Upgrade, HTTP2-Settings",
      "Upgrade: h2c",
      "HTTP2-Settings: AA",
    ),
    "an upgrade to a WebSocket": lines(
      "GET /good",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
      "Sec-WebSocket-Version: 13",
    ),
    "a CONNECT": lines("CONNECT 127.0.0.1:1"),
    "an OPTIONS of the server": lines("OPTIONS *"),
    "a target with a host": lines(`GET http://other.example/site/hello`),
    "Host named as a header of the connection": lines(
      "GET /site/hello",
      "Connection: close, Host, X-Amz-Date",
    ),
    trailers:
      lines("PUT /bucket/refused", chunked, "Trailer: x-amz-date") +
      "1\r\nx\r\n0\r\nx-amz-date: 1\r\nHost: other\r\n\r\n",
  };
}

async function assertNothingStored({ call }: Target, what: string): Promise<void> {
  for (const key of ["first", "smuggled", "refused"]) {
    const { status } = await call({ method: "HEAD", path: `/bucket/${key}` });
    assert.equal(status, 404, `${what}: ${key} was stored`);
  }
}

/** No proxy may be told to become a tunnel. */
function assertNoTunnel({ text }: Exchanged, what: string): void {
  assert.doesNotMatch(text, /^HTTP\/1\.1 101 /m, what);
}

async function attack(t: TestContext, front: Front): Promise<void> {
  const { target, ports } = front;
  for (const name of Object.keys(ports) as PortName[]) {
    await t.test(`requests hidden in others get no response on the ${name} port`, async () => {
      for (const [what, frame] of Object.entries(framings)) {
        const { first, second } = requestPairs(target)[name];
        const [found] = await Promise.all([
          exchange(ports[name], first + frame(second)),
          assertOwnAnswers(front, name, `while ${what} is sent`),
        ]);
        assert.ok(found.statuses.length <= 2, `${what}: ${found.statuses.length} responses`);
        await assertOwnAnswers(front, name, `after ${what}`);
        await target.call({ method: "DELETE", path: "/bucket/first" });
        // A proxy may forward what follows the first request as a second request of the same client.
        if (found.statuses.length < 2) await assertNothingStored(target, what);
        await target.call({ method: "DELETE", path: "/bucket/smuggled" });
      }
    });
    await t.test(`early answers on the ${name} port reach only their own client`, async () => {
      for (const [what, text] of Object.entries(earlyAnswers(target))) {
        assertNoTunnel(await exchange(ports[name], text), what);
        await assertOwnAnswers(front, name, `after ${what}`);
      }
      await assertNothingStored(target, "early answers");
    });
  }
  await target.assertServes();
}

const trusted = ["--trust-proxy", "127.0.0.1"];

for (const proxy of proxyNames) {
  const skip = missing.includes(proxy) && `${proxy} cannot be installed from Debian on this machine`;
  if (skip !== false) console.error(`NOT TESTED: ${skip}`);
  test(`behind ${proxy}, nobody gets the response of another client`, { skip }, async (t) => {
    const target = await openTarget(t, undefined, trusted);
    for (const victim of victims) {
      for (const bucket of ["bucket", "site"]) {
        const path = `/${bucket}/${encodeURIComponent(victim)}`;
        const { status } = await target.call({ method: "PUT", path, body: Buffer.from(victim) });
        assert.equal(status, 200);
      }
    }
    const front = { target, ports: await startProxy(t, proxy, target.ports) };
    await attack(t, front);
    await t.test("an address that the client writes into X-Forwarded-For opens no policy", async () => {
      const policy = {
        Version: "2012-10-17",
        Statement: {
          ...{ Effect: "Allow", Principal: "*", Action: "s3:GetObject", Resource: "arn:aws:s3:::bucket/*" },
          Condition: { IpAddress: { "aws:SourceIp": "127.0.0.7/32" } },
        },
      };
      const body = Buffer.from(JSON.stringify(policy));
      const put = await target.call({ method: "PUT", path: "/bucket", query: [["policy", ""]], body });
      assert.equal(put.status, 204, put.text);
      const read = (from: string, forwarded: string) =>
        sendRaw(`http://127.0.0.1:${front.ports.s3}`, {
          ...{ method: "GET", path: `/bucket/${encodeURIComponent(victims[0]!)}`, from },
          headers: forwarded === "" ? {} : { "x-forwarded-for": forwarded },
        });
      assert.equal((await read("127.0.0.7", "")).text, victims[0]);
      assert.equal((await read("127.0.0.7", "10.0.0.1")).status, 200);
      for (const claimed of ["127.0.0.7", "127.0.0.7, 127.0.0.7", "127.0.0.7,", '"127.0.0.7"']) {
        assert.equal((await read("127.0.0.8", claimed)).status, 403, claimed);
      }
    });
    target.assertSameProcesses();
  });
}
