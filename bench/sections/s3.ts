// The S3 API of `store serve`, beside s3rver, a bare node:http server and md5. Every request is signed and checked.
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { presign } from "../../src/http/signing.ts";
import { openEngine } from "../../src/open.ts";
import { createCredentials } from "../../src/s3/credentials.ts";
import { loadSecretKey } from "../../src/script/secret-key.ts";
import { requestsPerSecond } from "../http-load.ts";
import { type Limit, md5Alone } from "../limits.ts";
import { forEach, perSecond } from "../measure.ts";
import { type Context, compare, KiB, MiB, type Section, sameCount, sizeName } from "../section.ts";
import { end, firstDocument, installPeer, start, startStore } from "../servers.ts";

const s3rverVersion = "3.7.1";

export const s3: Section = {
  name: "s3",
  description: "the S3 API beside s3rver, a bare node:http server and md5; every request is signed",
  run,
};

interface Peer {
  readonly name: string;
  readonly port: number;
  /** A signed path for a method and a key. */
  path(method: string, key: string): string;
}

async function run(context: Context): Promise<void> {
  const started: ChildProcess[] = [];
  const { seconds } = context.pace;
  try {
    const store = await startOurs(context.directory, started);
    const s3rver = await startS3rver(context, started);
    const peers = s3rver === undefined ? [store] : [store, s3rver];
    const small = randomBytes(KiB);
    for (const peer of peers) await put(peer, "small", small);
    // Servers that have just started compile what they run: neither is measured before it has.
    for (const peer of peers) {
      const warm = { port: peer.port, connections: 16, seconds: Math.max(3, seconds) };
      await requestsPerSecond({ ...warm, path: peer.path("GET", "small") });
      await requestsPerSecond({
        ...warm,
        method: "PUT",
        body: small,
        path: (i) => peer.path("PUT", `put-${i}`),
      });
      await requestsPerSecond({ ...warm, path: peer.path("GET", "small") });
    }

    const gets = (peer: Peer) => () =>
      requestsPerSecond({ port: peer.port, path: peer.path("GET", "small"), connections: 16, seconds });
    await compare(context, {
      what: "GET, signed",
      ...{ size: KiB, lanes: 16, unit: "op/s", round: gets(store) },
      limits: s3rver === undefined ? [] : [{ name: "s3rver", round: gets(s3rver) }],
      bar: s3rver === undefined ? undefined : { atLeast: 5, of: "s3rver" },
    });
    for (const lanes of [16, 64]) {
      const puts = (peer: Peer) => () =>
        requestsPerSecond({
          ...{ port: peer.port, method: "PUT", body: small, connections: lanes, seconds },
          path: (connection) => peer.path("PUT", `put-${connection}`),
        });
      await compare(context, {
        what: "PUT, signed, durable",
        ...{ size: KiB, lanes, unit: "op/s", round: puts(store) },
        limits: s3rver === undefined ? [] : [{ name: "s3rver, never synced", round: puts(s3rver) }],
        bar: s3rver === undefined ? undefined : { atLeast: 3, of: "s3rver, never synced" },
      });
    }
    await large(context, store, started);
  } finally {
    await Promise.all(started.map(end));
  }
}

async function large(context: Context, store: Peer, started: ChildProcess[]): Promise<void> {
  const { seconds } = context.pace;
  const size = 64 * MiB;
  const body = randomBytes(size);
  await forEach(2, 1, (index) => put(store, `large-${index}`, body));
  const bare = await startBare(context.directory, body, started);
  let next = 0;
  const work = { lanes: 1, seconds };
  await compare(context, {
    what: "GET, signed",
    ...{ size, lanes: 1, unit: "MiB/s" },
    round: () => perSecond(work, () => get(store.port, store.path("GET", `large-${next++ % 2}`), size)),
    limits: [{ name: "bare node:http", round: () => perSecond(work, () => get(bare, "/", size)) }],
    bar: { atLeast: 0.7, of: "bare node:http" },
  });
  await compare(context, {
    what: "PUT, signed, durable",
    ...{ size, lanes: 1, unit: "MiB/s" },
    round: () => perSecond(work, () => put(store, `large-${next++ % 2}`, body)),
    limits: [md5Alone(body, seconds)] satisfies Limit[],
    bar: { atLeast: 0.6, of: "md5" },
  });
  context.note(`${sizeName(size)} goes through one connection; the client runs on the same cores.`);
}

async function startOurs(directory: string, started: ChildProcess[]): Promise<Peer> {
  writeFileSync(join(directory, "index.js"), "export default { fetch: () => new Response() };");
  const data = join(directory, "data");
  mkdirSync(data);
  const { engine, documents } = await openEngine(data);
  await engine.createBucket("bench");
  const credentials = createCredentials(documents, loadSecretKey(data, undefined), Date.now);
  const key = await credentials.create();
  await engine.close();
  const { s3: api } = await startStore(directory, started);
  return peerAt("store", api.url, key);
}

function peerAt(name: string, endpoint: string, key: { accessKeyId: string; secretAccessKey: string }): Peer {
  const { accessKeyId, secretAccessKey } = key;
  return {
    name,
    port: Number(new URL(endpoint).port),
    path: (method, object) =>
      presign({
        ...{ endpoint, method, path: `/bench/${object}`, accessKeyId, secretAccessKey, region: "us-east-1" },
        ...{ time: Date.now(), expiresInSeconds: 3600 },
      }).slice(endpoint.length),
  };
}

/** Left out, and said so, when it cannot be installed. */
async function startS3rver(context: Context, started: ChildProcess[]): Promise<Peer | undefined> {
  try {
    const cache = await installPeer(context, "s3rver", s3rverVersion);
    const file = join(cache, "serve.mjs");
    writeFileSync(
      file,
      `import S3rver from "s3rver";
const server = new S3rver({
  address: "127.0.0.1",
  port: 0,
  silent: true,
  directory: ${JSON.stringify(join(context.directory, "s3rver"))},
  configureBuckets: [{ name: "bench" }],
});
const { port } = await server.run();
console.log(JSON.stringify({ port }));
`,
    );
    const { port } = JSON.parse(await firstDocument(start([file], started))) as { port: number };
    return peerAt("s3rver", `http://127.0.0.1:${port}`, { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" });
  } catch (error) {
    context.note(
      `s3rver is left out: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`,
    );
    return undefined;
  }
}

/** The same bytes from a file, as node:http streams them. */
async function startBare(directory: string, body: Uint8Array, started: ChildProcess[]): Promise<number> {
  const source = join(directory, "bare.bin");
  writeFileSync(source, body);
  const file = join(directory, "bare.mjs");
  writeFileSync(
    file,
    `import { createReadStream } from "node:fs";
import { createServer } from "node:http";
const server = createServer((request, response) => {
  response.writeHead(200, { "content-length": "${body.length}" });
  createReadStream(${JSON.stringify(source)}).pipe(response);
});
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port: server.address().port })));
`,
  );
  const { port } = JSON.parse(await firstDocument(start([file], started))) as { port: number };
  return port;
}

function put(peer: Peer, key: string, body: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { "content-length": body.length };
    const outgoing = request({
      port: peer.port,
      host: "127.0.0.1",
      method: "PUT",
      path: peer.path("PUT", key),
      headers,
    });
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => {
      incoming.resume();
      incoming.on("end", () =>
        incoming.statusCode === 200
          ? resolve()
          : reject(new Error(`Cannot measure: PUT answered ${incoming.statusCode}`)),
      );
    });
    outgoing.end(body);
  });
}

function get(port: number, path: string, bytes: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ port, host: "127.0.0.1", path });
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => {
      let found = 0;
      incoming.on("data", (chunk: Buffer) => {
        found += chunk.length;
      });
      incoming.on("end", () => {
        sameCount(found, bytes, "bytes");
        resolve();
      });
    });
    outgoing.end();
  });
}
