// A script that may fetch public addresses reaches for private ones. A server on loopback counts
// what arrives.
import type { Attack } from "../attack.ts";

const go = (url: string) => `const response = await fetch(${url}, { signal: AbortSignal.timeout(5000) });
if (response.ok || response.headers.get("x-target") !== null) return "escaped " + await response.text();
throw new Error(response.status + " " + await response.text());`;

const addresses: Readonly<Record<string, string>> = {
  "127.0.0.1": "`http://127.0.0.1:${facts.target}/`",
  localhost: "`http://localhost:${facts.target}/`",
  "localhost with a dot at the end": "`http://localhost.:${facts.target}/`",
  "a name below localhost": "`http://any.localhost:${facts.target}/`",
  "127.8.8.8": "`http://127.8.8.8:${facts.target}/`",
  "loopback as one number": "`http://2130706433:${facts.target}/`",
  "loopback in hexadecimal": "`http://0x7f.1:${facts.target}/`",
  "loopback in octal": "`http://0177.0.0.1:${facts.target}/`",
  "0.0.0.0": "`http://0.0.0.0:${facts.target}/`",
  "[::1]": "`http://[::1]:${facts.target}/`",
  "[::]": "`http://[::]:${facts.target}/`",
  "an IPv4 address in IPv6": "`http://[::ffff:127.0.0.1]:${facts.target}/`",
  "an address of NAT64": "`http://[64:ff9b::7f00:1]:${facts.target}/`",
  "the metadata service": '"http://169.254.169.254/latest/meta-data/"',
  "the metadata service in IPv6": '"http://[fd00:ec2::254]/latest/meta-data/"',
  "the metadata service by name": '"http://metadata.google.internal/computeMetadata/v1/"',
  "10.0.0.1": '"http://10.0.0.1/"',
  "172.16.0.1": '"http://172.16.0.1/"',
  "192.168.0.1": '"http://192.168.0.1/"',
  "a shared address": '"http://100.64.0.1/"',
  "a link-local address": '"http://[fe80::1]/"',
  "a unique local address": '"http://[fd12:3456::1]/"',
  "a multicast address": '"http://224.0.0.1/"',
  "a broadcast address": '"http://255.255.255.255/"',
  "loopback with TLS": "`https://127.0.0.1:${facts.target}/`",
  "the console": '`http://127.0.0.1:${request.headers.get("x-console")}/healthz`',
};

/** For a script whose `outbound` names the redirector. */
const redirect = (to: string, status = 302) =>
  `\`http://127.0.0.1:\${facts.redirector}/?status=${status}&to=\${encodeURIComponent(${to})}\``;

const redirects: Readonly<Record<string, string>> = {
  "loopback by a redirect": redirect("`http://127.0.0.1:${facts.target}/`"),
  "loopback by a redirect with status 307": redirect("`http://127.0.0.1:${facts.target}/`", 307),
  "loopback by a redirect to another form of the address": redirect("`http://0x7f.1:${facts.target}/`"),
  "loopback by two redirects": redirect(redirect("`http://[::1]:${facts.target}/`"), 308),
  "the metadata service by a redirect": redirect('"http://169.254.169.254/latest/meta-data/"'),
  "a private address by a redirect": redirect('"http://10.0.0.1/"'),
  "a file by a redirect": redirect('"file:///etc/passwd"'),
};

export const redirectAttacks: readonly Attack[] = [
  {
    name: "fetches what it may",
    code: `return await (await fetch("http://127.0.0.1:" + facts.redirector)).text();`,
    expects: /^reached: permitted$/,
  },
  ...Object.entries(redirects).map(
    ([name, url]): Attack => ({ name: `fetches ${name}`, code: go(url), expects: "refused" }),
  ),
  {
    name: "passes a body on by a redirect",
    code: `const response = await fetch(${redirect("`http://127.0.0.1:${facts.target}/`", 307)}, { method: "POST", body: "secret" });
if (response.ok || response.headers.get("x-target") !== null) return "escaped";
throw new Error(String(response.status));`,
    expects: "refused",
  },
  {
    name: "listens with node:net",
    code: `const { createServer } = await import("node:net");
const server = createServer((socket) => socket.end("escaped"));
hoard.push(server);
await new Promise((resolve, reject) => { server.on("error", reject); server.listen(facts.free, "0.0.0.0", resolve); });
return "listening";`,
    expects: "contained",
  },
  {
    name: "listens with node:http",
    code: `const { createServer } = await import("node:http");
const server = createServer((_, response) => response.end("escaped"));
hoard.push(server);
await new Promise((resolve, reject) => { server.on("error", reject); server.listen(facts.free, resolve); });
return "listening";`,
    expects: "contained",
  },
];

export const networkAttacks: readonly Attack[] = [
  ...Object.entries(addresses).map(
    ([name, url]): Attack => ({ name: `fetches ${name}`, code: go(url), expects: "refused" }),
  ),
  {
    name: "names another host in the Host header",
    code: `const response = await fetch("http://127.0.0.1:" + facts.target, { headers: { host: "example.com" } });
if (response.headers.get("x-target") !== null) return "escaped";
throw new Error(String(response.status));`,
    expects: "refused",
  },
  {
    name: "opens a TCP connection with cloudflare:sockets",
    code: `const { connect } = await import("cloudflare:sockets");
const socket = connect({ hostname: "127.0.0.1", port: facts.target });
const writer = socket.writable.getWriter();
await writer.write(new TextEncoder().encode("GET / HTTP/1.0\\r\\n\\r\\n"));
const { value } = await socket.readable.getReader().read();
if (value === undefined) throw new Error("closed");
return "escaped";`,
    expects: "refused",
  },
  {
    name: "opens a TCP connection with node:net",
    code: `const { connect } = await import("node:net");
return await new Promise((resolve, reject) => { const socket = connect(facts.target, "127.0.0.1"); socket.on("data", () => resolve("escaped")); socket.on("error", reject); socket.on("close", () => reject(new Error("closed"))); socket.write("GET / HTTP/1.0\\r\\n\\r\\n"); });`,
    expects: "refused",
  },
  {
    name: "opens a WebSocket to loopback",
    code: `const response = await fetch("http://127.0.0.1:" + facts.target, { headers: { upgrade: "websocket" } });
if (response.webSocket || response.headers.get("x-target") !== null) return "escaped";
throw new Error(String(response.status));`,
    expects: "refused",
  },
  {
    name: "sends a header that splits the request to the proxy",
    code: `const response = await fetch("http://127.0.0.1:" + facts.target + "/%0d%0aHost:%20example.com", { headers: { "x-a": "b\\r\\nx-c: d" } });
if (response.headers.get("x-target") !== null) return "escaped";
throw new Error(String(response.status));`,
    expects: "refused",
  },
];
