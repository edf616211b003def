// Where messages to webhooks may go, and that no receiver holds a delivery for longer than its time.
import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { createWebhookClient, type WebhookClientOptions } from "../../src/events/webhook-client.ts";
import { until } from "../script/inside.ts";
import { openReceiver } from "./receiver.ts";

const publicAddress = "93.184.216.34";
const names: Readonly<Record<string, readonly string[]>> = {
  "internal.example.com": ["10.0.0.5"],
  "mapped.example.com": ["::ffff:127.0.0.1"],
  "nat64.example.com": ["64:ff9b::7f00:1"],
  "zero.example.com": ["0.0.0.0"],
  "self.example.com": ["8.8.4.4"],
};

const message = { headers: ["content-length", "2"], body: Buffer.from("{}") };

function client(options: Partial<WebhookClientOptions> = {}) {
  return createWebhookClient({
    allow: [],
    lookup: async (name) => names[name] ?? [],
    ownAddresses: () => ["127.0.0.1", "8.8.4.4"],
    ...options,
  });
}

function post(url: string, options?: Partial<WebhookClientOptions>): Promise<void> {
  return client(options).post(url, message);
}

/** A server that answers each connection with `answer`. Returns its URL and its connections. */
async function openHostile(t: TestContext, answer: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.once("data", () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}/`, sockets };
}

test("webhooks at addresses of this machine, its network and its cloud are refused in every form", async () => {
  const hosts = [
    ...["127.0.0.1", "localhost", "app.localhost", "10.0.0.5", "169.254.169.254", "0.0.0.0", "0"],
    ...["2130706433", "0x7f.1", "017700000001", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"],
    ...["[64:ff9b::7f00:1]", "[fd00:ec2::254]", "8.8.4.4", "[::ffff:8.8.4.4]"],
  ];
  for (const host of hosts) {
    await assert.rejects(post(`http://${host}:9/`), { message: /is not public, or is this server's own/ });
    assert.match(client().refusal(`http://${host}/`) ?? "", /is not public/, host);
  }
  for (const name of Object.keys(names)) {
    await assert.rejects(post(`https://${name}/`), { message: /its host is at .*--webhook-allow/ });
    assert.equal(client().refusal(`https://${name}/`), undefined, "a name is not looked up");
  }
  await assert.rejects(post("https://missing.example.com/"), { message: "host name not found" });
  await assert.rejects(post(`http://${publicAddress}:25/`), { message: /port 25 belongs to another/ });
  assert.equal(client().refusal(`https://${publicAddress}:8443/`), undefined);
});

test("private hosts are permitted by address, network, name and name below a domain", async (t) => {
  const { url } = await openReceiver(t);
  const { port } = new URL(url);
  const lookup = async () => ["127.0.0.1"];
  const cases: [allow: string, url: string][] = [
    ["127.0.0.1", url],
    ["127.0.0.0/8", url],
    [`127.0.0.1:${port}`, url],
    ["localhost", `http://localhost:${port}/`],
    ["hooks.internal", `http://hooks.internal:${port}/`],
    ["*.internal", `http://hooks.internal:${port}/`],
    ["127.0.0.1", `http://hooks.internal:${port}/`],
  ];
  for (const [allow, target] of cases) await post(target, { allow: [allow], lookup });
  await assert.rejects(post(url, { allow: ["127.0.0.1:1"] }), { message: /is not public/ });
  await assert.rejects(post(`http://internal:${port}/`, { allow: ["*.internal"], lookup }), /is not public/);
  for (const entry of ["http://a", "a/b", "10.0.0.0/33", "", "*.10.0.0.1", "a b"])
    assert.throws(() => client({ allow: [entry] }), RangeError, entry);
});

test("the address that was checked is the one that is connected to", async (t) => {
  const receiver = await openReceiver(t);
  let lookups = 0;
  // The second answer is that of an attacker's DNS server, after the check.
  const lookup = async () => [lookups++ === 0 ? "203.0.113.1" : "127.0.0.1"];
  const target = `http://rebind.example.com:${new URL(receiver.url).port}/`;
  await assert.rejects(post(target, { lookup, allow: ["203.0.113.0/24"], milliseconds: 300 }));
  assert.equal(lookups, 1);
  assert.equal(receiver.received.length, 0);
});

test("a redirect is a failure and is not followed", async (t) => {
  const receiver = await openReceiver(t);
  receiver.answer = () => 302;
  await assert.rejects(post(receiver.url, { allow: ["127.0.0.1"] }), {
    message: "the webhook responded with status 302; redirects are not followed",
  });
  assert.equal(receiver.received.length, 1);
});

const slowly = (socket: Socket, text: string) => {
  const timer = setInterval(() => socket.write(text), 5);
  socket.on("close", () => clearInterval(timer));
};

test("a webhook that never finishes the head of its response is given up after the time", async (t) => {
  const options = { allow: ["127.0.0.1"], milliseconds: 100 };
  const answers: ((socket: Socket) => void)[] = [
    () => {},
    (socket) => slowly(socket, "H"),
    (socket) => socket.write("HTTP/1.1 200 OK\r\n") && slowly(socket, "a"),
    (socket) => slowly(socket, "HTTP/1.1 100 Continue\r\n\r\n"),
  ];
  for (const answer of answers) {
    const { url, sockets } = await openHostile(t, answer);
    await assert.rejects(post(url, options));
    await until(() => sockets.size === 0, "the connection is closed");
  }
});

test("endless headers are refused, and an endless body does not hold the connection", async (t) => {
  const allow = ["127.0.0.1"];
  const headers = await openHostile(t, (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    slowly(socket, `x-${"y".repeat(8000)}: z\r\n`);
  });
  await assert.rejects(post(headers.url, { allow }), { message: /headers are too large/ });
  for (const chunk of ["a", "a".repeat(20_000)]) {
    const body = await openHostile(t, (socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n");
      slowly(socket, chunk);
    });
    await post(body.url, { allow });
    await until(() => body.sockets.size === 0, "the connection is closed");
  }
  const reset = await openHostile(t, (socket) => socket.resetAndDestroy());
  await assert.rejects(post(reset.url, { allow }), { message: /closed the connection/ });
  const upgrade = await openHostile(t, (socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
  });
  await assert.rejects(post(upgrade.url, { allow }), { message: /status 101/ });
  await until(() => upgrade.sockets.size === 0, "the connection is closed");
});
