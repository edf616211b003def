// What a script in the real runtime sees of the proxy.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type TestContext, test } from "node:test";
import type { OutboundProxyOptions } from "../../../../src/script/sandbox/outbound/outbound-proxy.ts";
import { makeCertificate } from "../../../support/certificate.ts";
import { runScript } from "./runtime.ts";
import { startProxy, startServer } from "./scene.ts";

const script = `
import { connect } from "cloudflare:sockets";

const actions = {
  async get(url) {
    const response = await fetch(url);
    return { status: response.status, text: await response.text() };
  },
  async headers(url) {
    const response = await fetch(url, { headers: { Expect: "100-continue", "X-Mine": "1" } });
    return { status: response.status, text: await response.text(), names: [...response.headers.keys()] };
  },
  async post(url) {
    const { readable, writable } = new TransformStream();
    const writer = writable.getWriter();
    const written = (async () => {
      for (let i = 0; i < 50; i++) await writer.write(new Uint8Array(20000));
      await writer.close();
    })();
    const response = await fetch(url, { method: "POST", body: readable });
    await written;
    return { status: response.status, size: (await response.arrayBuffer()).byteLength };
  },
  async socket(url) {
    const response = await fetch(url, { headers: { Upgrade: "websocket" } });
    const socket = response.webSocket;
    if (!socket) return { status: response.status, text: await response.text() };
    socket.accept();
    const message = new Promise((resolve) => socket.addEventListener("message", (event) => resolve(event.data)));
    return { status: response.status, text: await message };
  },
  async tcp(url) {
    const socket = connect(url);
    await socket.opened;
    return { status: "open" };
  },
};

export default {
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    const action = actions[pathname.slice(1)];
    if (action === undefined) return new Response("ready");
    try {
      return Response.json(await action(searchParams.get("url")));
    } catch (error) {
      return Response.json({ error: String(error) });
    }
  },
};
`;

interface Seen {
  readonly status?: number;
  readonly text?: string;
  readonly size?: number;
  readonly names?: readonly string[];
  readonly error?: string;
}

async function start(t: TestContext, options: OutboundProxyOptions) {
  const proxy = await startProxy(t, options);
  const ask = await runScript(t, { script, outbound: proxy.path });
  return async (action: string, url: string) =>
    JSON.parse(await ask(`/${action}?url=${encodeURIComponent(url)}`)) as Seen;
}

test("a script in the runtime reads why its fetch was refused", async (t) => {
  const act = await start(t, { outbound: "none" });
  const refused = await act("get", "https://api.example.com/");
  assert.equal(refused.status, 403);
  assert.match(refused.text!, /^fetch of "api\.example\.com" was refused: add it to outbound/);
  // The refusal arrives while the script still sends a body.
  const upload = await act("post", "https://api.example.com/");
  assert.equal(upload.status, 403, JSON.stringify(upload));
});

test("a script in the runtime cannot reach loopback, metadata or private addresses", async (t) => {
  let requests = 0;
  const { port } = await startServer(t, (_, response) => {
    requests++;
    response.end("secret");
  });
  const act = await start(t, { outbound: "public", lookup: async () => ["127.0.0.1"] });
  const hosts = [
    ...[`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, `2130706433:${port}`, `0x7f.1:${port}`],
    ...[`127.0.0.1.:${port}`, `rebind.example.com:${port}`, `[::ffff:7f00:1]:${port}`, "169.254.169.254"],
    ...["[fd00:ec2::254]", "10.0.0.1", "100.64.0.1", `user:pass@127.0.0.1:${port}`],
  ];
  for (const host of hosts) {
    const seen = await act("get", `http://${host}/latest/meta-data/`);
    assert.ok(seen.error !== undefined || seen.status! >= 400, `${host}: ${JSON.stringify(seen)}`);
  }
  assert.equal(requests, 0);
});

test("redirects that the runtime follows are checked one by one", async (t) => {
  let requests = 0;
  const inner = await startServer(t, (_, response) => {
    requests++;
    response.end("secret");
  });
  const { port } = await startServer(t, (request, response) => {
    if (request.url === "/end") response.end("arrived");
    else if (request.url === "/good") response.writeHead(302, { location: "/end" }).end();
    else response.writeHead(307, { location: `http://127.0.0.1:${inner.port}/` }).end();
  });
  const outbound = [`127.0.0.1:${port}`];
  const act = await start(t, { outbound });
  assert.deepEqual(await act("get", `http://127.0.0.1:${port}/good`), { status: 200, text: "arrived" });
  const refused = await act("get", `http://127.0.0.1:${port}/bad`);
  assert.equal(refused.status, 403);
  assert.match(refused.text!, new RegExp(`fetch of "127.0.0.1:${inner.port}" was refused`));
  assert.equal(requests, 0);
});

test("the runtime adds no headers to requests, and the proxy none to responses", async (t) => {
  const { port } = await startServer(t, (request, response) => {
    response.sendDate = false;
    const names = request.rawHeaders.filter((_, i) => i % 2 === 0);
    response.writeHead(200, { "x-theirs": "1" }).end(names.sort().join());
  });
  const act = await start(t, { outbound: [`127.0.0.1:${port}`] });
  const { text, names } = await act("headers", `http://127.0.0.1:${port}/`);
  assert.equal(text, "Connection,Host,X-Mine");
  assert.deepEqual(names, ["transfer-encoding", "x-theirs"]);
});

test("the runtime fetches over TLS and streams bodies both ways", async (t) => {
  const pair = makeCertificate({ name: "api.example.com" });
  const { port } = await startServer(t, (request, response) => request.pipe(response), pair);
  const outbound = [`api.example.com:${port}`, `127.0.0.1:${port}`];
  const lookup = async () => ["127.0.0.1"];
  const act = await start(t, { outbound, lookup, ca: pair.certificate });
  assert.deepEqual(await act("post", `https://api.example.com:${port}/`), { status: 200, size: 1_000_000 });
});

test("the runtime opens WebSockets to permitted hosts only, and no sockets", async (t) => {
  const { port, server } = await startServer(t, (_, response) => response.end());
  server.on("upgrade", (request, socket) => {
    const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash("sha1").update(key).digest("base64");
    socket.on("error", () => {});
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
        `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    // A text frame without a mask, as servers send it.
    socket.write(Buffer.concat([Buffer.from([0x81, 5]), Buffer.from("hello")]));
    t.after(() => socket.destroy());
  });
  const act = await start(t, { outbound: [`127.0.0.1:${port}`] });
  assert.deepEqual(await act("socket", `http://127.0.0.1:${port}/`), { status: 101, text: "hello" });
  const refused = await act("socket", "https://other.example.com/");
  assert.equal(refused.status, 403);
  const tcp = await act("tcp", `127.0.0.1:${port}`);
  assert.match(tcp.error ?? "", /Error/);
});
