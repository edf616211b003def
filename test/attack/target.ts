// Starts the server under attack: `store serve` with all ports, access keys and a public bucket.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { encodeText } from "../../src/http/sigv4.ts";
import { s3Processes } from "../s3/inside.ts";
import { type Raw, type RawAnswer, sendRaw, signRaw } from "../s3/raw.ts";
import { type Key, type S3Scene, s3Scene } from "../s3/scene.ts";
import { ask } from "../script/client.ts";
import type { Scene } from "../script/scene.ts";
import type { Server } from "../script/server.ts";

export type PortName = "s3" | "script" | "console" | "public";

export interface Target {
  readonly scene: Scene;
  readonly server: Server;
  /** URL of the S3 API. */
  readonly url: string;
  readonly key: Key;
  readonly data: string;
  readonly ports: Readonly<Record<PortName, number>>;
  newKey: S3Scene["newKey"];
  /** Sends a request signed with the full key. */
  call(raw: Raw): Promise<RawAnswer>;
  /** Returns a presigned path and query, `/bucket/key?X-Amz-…`, for this method. */
  presigned(method: string, path: string): string;
  /** Asserts that a well-formed request to each port gets the expected status. */
  assertServes(...names: PortName[]): Promise<void>;
  /** Asserts that no S3 process was replaced and no unexpected failure was logged. */
  assertSameProcesses(): void;
}

const source = `
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/good") return new Response("good");
    if (pathname === "/echo") return new Response(new URL(request.url).search.slice(1));
    if (request.method === "PUT") {
      await env.BUCKET.put(pathname.slice(1), await request.arrayBuffer());
      return new Response("stored");
    }
    const object = await env.BUCKET.get(pathname.slice(1));
    return object === null ? new Response("none", { status: 404 }) : new Response(object.body);
  },
};`;

/** Starts the server. Script and key may use `bucket`; `site` is public and contains `hello`. */
export async function openTarget(
  t: Pick<TestContext, "after">,
  script = source,
  args: readonly string[] = [],
): Promise<Target> {
  const s3 = await s3Scene(t, "serve", ["--public-port", "0", ...args], script);
  const { url, key, server, scene, data } = s3;
  const announced = server.announced as Server["announced"] & { readonly public: { readonly url: string } };
  const parsePort = (address: string) => Number(new URL(address).port);
  const ports = {
    s3: parsePort(url),
    script: server.port,
    console: parsePort(announced.console.url),
    public: parsePort(announced.public.url),
  };
  const call = (raw: Raw) => sendRaw(url, signRaw(url, raw, { key, form: "header" }));
  for (const raw of [
    { method: "PUT", path: "/site" },
    { method: "PUT", path: "/site/hello", body: Buffer.from("hello") },
  ]) {
    assert.equal((await call(raw)).status, 200);
  }
  await scene.shell.store("bucket", "public", "site", "--data", data);
  const before = s3Processes(server.pid);
  const probes: Readonly<Record<PortName, () => Promise<readonly [number, string]>>> = {
    s3: async () => [(await sendRaw(url, { method: "GET", path: "/" })).status, "403"],
    script: async () => answered(await ask(ports.script, { path: "/good" })),
    console: async () => answered(await ask(ports.console, { path: "/healthz" })),
    public: async () => answered(await ask(ports.public, { path: "/site/hello" })),
  };
  return {
    ...{ scene, server, url, key, data, ports, newKey: s3.newKey, call },
    presigned(method, path) {
      const { query } = signRaw(url, { method, path }, { key, form: "query" });
      return `${path}?${query.map(([name, value]) => `${name}=${encodeText(value)}`).join("&")}`;
    },
    async assertServes(...names) {
      for (const name of names.length === 0 ? (Object.keys(ports) as PortName[]) : names) {
        const [status] = await probes[name]();
        assert.equal(status, name === "s3" ? 403 : 200, `the ${name} port serves the next client`);
      }
    },
    assertSameProcesses() {
      assert.deepEqual(s3Processes(server.pid), before, "the processes of the S3 API are the same");
      assert.doesNotMatch(server.log(), /request \w+ failed|A process of the S3 API ended|ended \(/);
    },
  };
}

function answered({ status, text }: { readonly status: number; readonly text: string }) {
  return [status, text] as const;
}

export interface Exchanged {
  /** All received bytes as latin1 text. */
  readonly text: string;
  /** Status codes in the order of the responses, without 100 Continue. */
  readonly statuses: readonly number[];
}

export interface ExchangeOptions {
  readonly localAddress?: string;
  /** Whether the client keeps its side open, so that the server must close the connection. */
  readonly keepOpen?: boolean;
}

const patience = 20_000;
/** Time after which the client ends its side if the server does not respond. */
const waitMilliseconds = 2000;
/** Time to wait for a second response after the first. */
const quietMilliseconds = 150;

/** Sends bytes on a new connection and returns everything received until it closes. */
export function exchange(
  port: number,
  bytes: string | Uint8Array,
  { localAddress = "127.0.0.1", keepOpen = false }: ExchangeOptions = {},
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress, allowHalfOpen: true });
    const pieces: Buffer[] = [];
    const late = setTimeout(() => {
      socket.destroy();
      reject(new Error(`The connection is still open after ${patience} ms.`));
    }, patience);
    const finish = () => {
      if (!keepOpen) socket.end();
    };
    let quiet = setTimeout(finish, waitMilliseconds);
    socket.on("data", (piece) => {
      pieces.push(piece);
      clearTimeout(quiet);
      quiet = setTimeout(finish, quietMilliseconds);
    });
    // Ignored: the server may reset the connection while the client sends; earlier responses count.
    socket.on("error", () => {});
    socket.on("end", () => socket.end());
    socket.on("close", () => {
      clearTimeout(late);
      clearTimeout(quiet);
      const text = Buffer.concat(pieces).toString("latin1");
      resolve({ text, statuses: parseStatuses(text) });
    });
    socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  });
}

/** Finds all status lines. A response may follow the previous body without a line break. */
function parseStatuses(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.[01] (\d{3}) [A-Z]/g)]
    .map((match) => Number(match[1]))
    .filter((status) => status >= 200);
}

/** Opens a connection that ignores errors and is closed after the test. */
export async function holdOpen(
  t: Pick<TestContext, "after">,
  port: number,
  localAddress?: string,
): Promise<Socket> {
  const socket = connect({
    port,
    host: "127.0.0.1",
    ...(localAddress === undefined ? {} : { localAddress }),
  });
  socket.on("error", () => {});
  t.after(() => socket.destroy());
  await new Promise<void>((resolve) => {
    socket.once("connect", resolve);
    socket.once("close", () => resolve());
  });
  return socket;
}

/** Lists the objects and uploads of a bucket as text, to compare before and after an attack. */
export async function snapshot({ call }: Pick<Target, "call">, bucket = "bucket"): Promise<string> {
  const listed = await call({ method: "GET", path: `/${bucket}`, query: [["list-type", "2"]] });
  const uploads = await call({ method: "GET", path: `/${bucket}`, query: [["uploads", ""]] });
  return `${listed.text}\n${uploads.text}`;
}

/** Returns whether the whole network 127.0.0.0/8 is loopback, as on Linux. */
export function hasManyAddresses(): boolean {
  return /\b127\.0\.0\.0\b/.test(readFileSync("/proc/net/fib_trie", "utf8"));
}

/** Formats a request as text with extra header lines that an HTTP client would not send. */
export function requestText(raw: Raw, furtherLines: readonly string[] = []): string {
  const query = (raw.query ?? [])
    .map(([name, value]) => `${encodeText(name)}=${encodeText(value)}`)
    .join("&");
  const lines = [
    `${raw.method} ${raw.path}${query === "" ? "" : `?${query}`} HTTP/1.1`,
    ...Object.entries(raw.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    ...furtherLines,
    `content-length: ${raw.body?.length ?? 0}`,
    "connection: close",
  ];
  return `${lines.join("\r\n")}\r\n\r\n${Buffer.from(raw.body ?? new Uint8Array()).toString("latin1")}`;
}
