// Ports in use: store dev replaces a default port by a free port, but not a requested port.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { listen } from "../../../src/http/server/listen.ts";
import { bindShared } from "../../../src/http/server/shared-listener.ts";
import { outcomeOf, type Shell } from "../../cli/store.ts";
import { openScene } from "../../script/scene.ts";

/** Listens on the port unless it is already in use; returns the port. */
async function take(t: TestContext, port: number): Promise<number> {
  const other = createServer();
  const bound = new Promise<void>((resolve) => {
    other.once("error", () => resolve());
    other.listen(port, "127.0.0.1", resolve);
  });
  await bound;
  t.after(() => other.close());
  return (other.address() as { port: number } | null)?.port ?? port;
}

test("listening on a port in use fails, unless the address allows the choice of another port", async (t) => {
  const port = await take(t, 0);
  const handler = () => ({ status: 200, headers: [], body: "" });
  const address = { host: "127.0.0.1", port };
  await assert.rejects(listen(handler, address), { code: "EADDRINUSE" });
  await assert.rejects(bindShared(address), { code: "EADDRINUSE" });
  const listening = await listen(handler, { ...address, whenTaken: "choose another" });
  t.after(() => listening.drain());
  assert.notEqual(listening.port, port);
  const shared = await bindShared({ ...address, whenTaken: "choose another" });
  t.after(() => shared.close());
  assert.notEqual(shared.port, port);
});

const source = "export default { fetch: () => new Response('served') };";
const config = 'name = "a"\nmain = "index.js"\ncompatibility_date = "2026-01-01"\n';

async function announcement(t: TestContext, shell: Shell, args: readonly string[]): Promise<string> {
  const child = shell.start(args);
  const ended = outcomeOf(child);
  t.after(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  const lines: string[] = [];
  const reader = createInterface(child.stdout);
  for await (const line of reader) {
    lines.push(line);
    if (line.startsWith("Data in")) return lines.join("\n");
  }
  return assert.fail((await ended).stderr);
}

test("store dev replaces default ports that are in use by free ones and announces it", async (t) => {
  const scene = await openScene(t);
  await scene.write("index.js", source);
  await scene.write("wrangler.toml", config);
  for (const port of [8787, 9000, 9001]) await take(t, port);
  const text = await announcement(t, scene.shell, ["dev"]);
  assert.match(text, /^Listening on http:\/\/127\.0\.0\.1:\d+\/ \(port 8787 is taken\)$/m);
  assert.match(text, /^S3 API on http:\/\/127\.0\.0\.1:\d+ \(port 9000 is taken\)$/m);
  assert.match(text, /^Console on http:\/\/127\.0\.0\.1:\d+ \(port 9001 is taken\)$/m);
  const [, url] = /^Listening on (\S+)/m.exec(text)!;
  assert.equal(await (await fetch(url!)).text(), "served");
});

test("store dev fails if a requested port is in use, and store serve fails if any port is in use", async (t) => {
  const scene = await openScene(t);
  await scene.write("index.js", source);
  const port = await take(t, 0);
  const free = ["--s3-port", "0", "--console-port", "0"];
  const words = new RegExp(`Cannot listen on port ${port} of 127\\.0\\.0\\.1: it is already in use`);
  await scene.write("wrangler.toml", config);
  assert.match(await scene.shell.fails(1, ["dev", "--port", String(port), ...free]), words);
  await scene.write("wrangler.toml", `${config}[dev]\nport = ${port}\n`);
  assert.match(await scene.shell.fails(1, ["dev", ...free]), words);
  await take(t, 8787);
  assert.match(await scene.shell.fails(1, ["serve", ...free]), /Cannot listen on port 8787/);
});
