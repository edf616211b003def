// The servers of the wire proof: a store with S3 API and script, and a listener with short
// timeouts.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCredentials } from "../../../src/access/keys/credentials.ts";
import { listen } from "../../../src/http/server/listen.ts";
import { openEngine } from "../../../src/open.ts";
import { createS3Handler } from "../../../src/s3/handler.ts";
import { s3PortOptions } from "../../../src/s3/server/port.ts";
import { s3Processes } from "../../s3/inside.ts";
import { sendRaw, signRaw } from "../../s3/raw.ts";
import { type Key, s3Scene } from "../../s3/scene.ts";
import { ask } from "../../script/client.ts";
import { residentMemory, scriptProcesses } from "../../script/inside.ts";
import { s3Samples, scriptSamples } from "./samples.ts";

export interface Listener {
  readonly name: string;
  readonly port: number;
  /** Returns valid requests, signed with the current time. */
  samples(): string[];
  /** Checks that a valid request is still served. */
  checkGood(): Promise<void>;
}

export interface WireScene {
  readonly listeners: readonly Listener[];
  /** A listener that closes silent connections within half a second. */
  readonly impatient: Listener;
  /** Checks that no process died and that the S3 processes were not replaced. */
  checkProcesses(): void;
  /** Returns how many script processes were reported as blocked, which a busy machine can cause. */
  blockedScripts(): number;
  /** Returns the memory of all serving processes, in bytes. */
  memory(): number;
  close(): Promise<void>;
}

const script = `
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/echo") return new Response(request.body, { headers: { "x-method": request.method } });
    if (pathname === "/put") {
      const object = await env.BUCKET.put("script", await request.arrayBuffer());
      return new Response(object.etag);
    }
    if (pathname === "/headers") return new Response(JSON.stringify([...request.headers]));
    if (pathname === "/good") return new Response("good");
    const object = await env.BUCKET.get("script");
    return object === null ? new Response("none", { status: 404 }) : new Response(object.body);
  },
};`;

export async function openWireScene(): Promise<WireScene> {
  const ends: (() => unknown)[] = [];
  const close = async () => {
    for (const end of ends.reverse()) await end();
  };
  try {
    const { url, key, newKey, server } = await s3Scene(
      { after: (end) => void ends.push(end as () => unknown) },
      "dev",
      [],
      script,
    );
    const before = s3Processes(server.pid);
    const scriptUrl = server.announced.url;
    return {
      listeners: [
        s3Listener("the S3 API", url, { key, goodKey: await newKey() }),
        {
          name: "the script",
          port: server.port,
          samples: () => scriptSamples(scriptUrl),
          async checkGood() {
            const { status, text } = await ask(server.port, { path: "/good" });
            assert.deepEqual([status, text], [200, "good"]);
          },
        },
      ],
      impatient: await impatientListener(ends),
      checkProcesses() {
        const told = server.log().match(/^(?:Script "|S3 |A process).*$/gm) ?? [];
        assert.deepEqual(
          s3Processes(server.pid),
          before,
          `processes were replaced:\n${told.slice(-20).join("\n")}`,
        );
        assert.doesNotMatch(server.log(), /S3 request \w+ failed|A process of the S3 API|ended \(/);
      },
      memory: () =>
        [...before, ...scriptProcesses(server.pid)].reduce((sum, pid) => sum + residentMemory(pid), 0),
      blockedScripts: () => server.log().match(/has blocked its event loop/g)?.length ?? 0,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Keys {
  readonly key: Key;
  /** For good requests: wrong signatures with the other key reach its limit. */
  readonly goodKey: Key;
}

function s3Listener(name: string, url: string, { key, goodKey }: Keys): Listener {
  return {
    name,
    port: Number(new URL(url).port),
    samples: () => s3Samples(url, key),
    async checkGood() {
      const call = { path: "/bucket/good", body: Buffer.from("good") };
      const put = await sendRaw(
        url,
        signRaw(url, { method: "PUT", ...call }, { key: goodKey, form: "header" }),
      );
      assert.equal(put.status, 200, put.text);
      const got = await sendRaw(
        url,
        signRaw(url, { method: "GET", path: call.path }, { key: goodKey, form: "query" }),
      );
      assert.deepEqual([got.status, got.text], [200, "good"]);
    },
  };
}

const silenceMilliseconds = 400;

async function impatientListener(ends: (() => unknown)[]): Promise<Listener> {
  const directory = await mkdtemp(join(tmpdir(), "store-test-"));
  ends.push(() => rm(directory, { recursive: true, force: true }));
  const { engine, documents } = await openEngine(directory);
  ends.push(() => engine.close());
  await engine.createBucket("bucket");
  const credentials = createCredentials(documents, Buffer.alloc(32, 1), Date.now);
  const faults: string[] = [];
  const handler = createS3Handler({
    engine,
    credentials,
    domains: [],
    now: Date.now,
    log: (line) => faults.push(line),
  });
  const listening = await listen(
    handler,
    { host: "127.0.0.1", port: 0 },
    { ...s3PortOptions, silenceMilliseconds, idleMilliseconds: silenceMilliseconds },
  );
  ends.push(() => listening.drain());
  const url = `http://127.0.0.1:${listening.port}`;
  const keys = { key: await credentials.create(), goodKey: await credentials.create() };
  const listener = s3Listener("the impatient listener", url, keys);
  return {
    ...listener,
    async checkGood() {
      await listener.checkGood();
      assert.deepEqual(faults, []);
    },
  };
}
