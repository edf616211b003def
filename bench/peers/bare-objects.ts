// A bare node:http server with objects in memory: it checks no signature and keeps no index. A write
// is acknowledged after it was appended to a log, with one fdatasync for all that arrived meanwhile.
import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { firstDocument, start } from "../servers.ts";
import { bucket, type S3Server } from "./s3-server.ts";

export interface BareObjects {
  readonly directory: string;
  readonly started: ChildProcess[];
  /** Files of a certificate and its key; default: plain HTTP. */
  readonly tls?: { readonly certificate: string; readonly key: string };
}

export async function startBareObjects({ directory, started, tls }: BareObjects): Promise<S3Server> {
  const name = tls === undefined ? "bare node:http" : "bare node:https";
  const file = join(directory, `bare-objects-${tls === undefined ? "plain" : "tls"}.mjs`);
  writeFileSync(
    file,
    program(join(directory, `bare-objects-${tls === undefined ? "plain" : "tls"}.log`), tls),
  );
  const { port } = JSON.parse(await firstDocument(start([file], started))) as { port: number };
  const query = (pairs: readonly (readonly [string, string])[]) =>
    pairs.map(([name, value]) => `${name}=${value}`).join("&");
  return {
    ...{ name, port, isSynced: true },
    path: (_method, key, pairs = []) =>
      key === undefined ? `/${bucket}?${query(pairs)}` : `/${bucket}/${key}`,
  };
}

function program(log: string, tls: BareObjects["tls"]): string {
  return `import { fdatasync, openSync, readFileSync, writev } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
const tls = ${JSON.stringify(tls ?? null)};
const log = openSync(${JSON.stringify(log)}, "w");
const objects = new Map();
let waiting = [];
let isSyncing = false;
function commit(bytes, done) {
  waiting.push({ bytes, done });
  if (!isSyncing) flush();
}
function flush() {
  const group = waiting;
  waiting = [];
  isSyncing = group.length > 0;
  if (!isSyncing) return;
  writev(log, group.map(({ bytes }) => bytes), () =>
    fdatasync(log, () => {
      for (const { done } of group) done();
      flush();
    }),
  );
}
function page(prefix) {
  let text = "";
  let count = 0;
  for (const [key, { length }] of objects) {
    if (!key.startsWith(prefix)) continue;
    text += "<Contents><Key>" + key + "</Key><Size>" + length + "</Size></Contents>";
    if (++count === 100) break;
  }
  return text;
}
function handle(request, response) {
  const key = request.url.slice(${bucket.length + 2});
  if (request.method === "PUT") {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
      commit(body, () => {
        objects.set(key, body);
        response.writeHead(200, { "content-length": "0" }).end();
      });
    });
  } else if (request.method === "DELETE") {
    commit(Buffer.from(key), () => {
      objects.delete(key);
      response.writeHead(204).end();
    });
  } else if (request.url.startsWith("/${bucket}?")) {
    const prefix = /prefix=([^&]*)/.exec(request.url)?.[1] ?? "";
    const body = page(prefix);
    response.writeHead(200, { "content-length": String(body.length) }).end(body);
  } else {
    const body = objects.get(key);
    if (body === undefined) response.writeHead(404, { "content-length": "0" }).end();
    else response.writeHead(200, { "content-length": String(body.length) }).end(body);
  }
}
const server =
  tls === null
    ? http.createServer(handle)
    : https.createServer({ cert: readFileSync(tls.certificate), key: readFileSync(tls.key) }, handle);
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port: server.address().port })));
`;
}
