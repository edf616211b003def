// Serves the built documentation from Store itself: a folder, synced to a public bucket with a domain.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { buildSite } from "../../../docs-site/build-site.ts";
import { openShell, outcomeOf, root } from "../../cli/store.ts";

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** Sends a GET with a Host header, which fetch does not allow. */
async function get(url: string, path: string, host: string): Promise<Answer> {
  const sent = request(new URL(path, url), { headers: { Host: host }, agent: false }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const pieces: Uint8Array[] = [];
  for await (const piece of response) pieces.push(piece as Uint8Array);
  const type = response.headers["content-type"] ?? "";
  return { status: response.statusCode!, type, body: Buffer.concat(pieces).toString() };
}

test("the built site is served from a public bucket with its domain, content types and page for missing keys", async (t) => {
  const { files } = buildSite({ root });
  const shell = await openShell(t);
  for (const [url, content] of files) {
    const path = join(shell.directory, "site", url);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
  const host = "docs.example.com";
  await shell.store("bucket", "create", "docs");
  assert.match(await shell.store("sync", "./site", "docs"), new RegExp(`Uploaded ${files.size} files`));
  await shell.store(
    "bucket",
    "public",
    "docs",
    "--index",
    "index.html",
    "--not-found",
    "404.html",
    "--domain",
    host,
  );
  const server = shell.start([
    "serve",
    "--s3-port",
    "0",
    "--console-port",
    "0",
    "--public-port",
    "0",
    "--json",
  ]);
  const ended = outcomeOf(server);
  t.after(async () => {
    server.kill("SIGTERM");
    await ended;
  });
  const first = await Promise.race([once(createInterface(server.stdout), "line"), ended]);
  assert.ok(Array.isArray(first), JSON.stringify(first));
  const { url } = (JSON.parse(String(first[0])) as { public: { url: string } }).public;

  const home = await get(url, "/", host);
  assert.equal(home.status, 200);
  assert.match(home.type, /^text\/html/);
  assert.equal(home.body, files.get("index.html"));
  const types: [string, RegExp][] = [
    ["/reference/s3-operations.html", /^text\/html/],
    ["/assets/site.css", /^text\/css/],
    ["/assets/search.js", /^text\/javascript/],
    ["/assets/icon.svg", /^image\/svg\+xml/],
    ["/figures/console-objects.png", /^image\/png/],
  ];
  for (const [path, type] of types) {
    const answer = await get(url, path, host);
    assert.equal(answer.status, 200, path);
    assert.match(answer.type, type, path);
  }
  const missing = await get(url, "/how-to/nothing.html", host);
  assert.equal(missing.status, 404);
  assert.match(missing.type, /^text\/html/);
  assert.match(missing.body, /Page not found.*<a href="\/index\.html">/s);
});
