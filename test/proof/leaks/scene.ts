// A server with a script and the S3 API on one bucket, and measurements of the descriptors and
// memory of its processes.
import assert from "node:assert/strict";
import { readdirSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { s3Processes } from "../../s3/inside.ts";
import type { Key } from "../../s3/scene.ts";
import { openFiles, residentMemory, scriptProcesses, until } from "../../script/inside.ts";
import { type Scene, scriptScene } from "../../script/scene.ts";
import { blobFiles } from "../../support/disk/on-disk.ts";

const source = `
export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const key = url.pathname.slice(1);
    const upload = url.searchParams.get("upload");
    if (request.method === "PUT" && upload !== null) {
      const number = Number(url.searchParams.get("number"));
      return Response.json(await env.BUCKET.resumeMultipartUpload(key, upload).uploadPart(number, request.body));
    }
    if (request.method === "PUT") {
      await env.BUCKET.put(key, request.body);
      return new Response("stored");
    }
    if (request.method === "POST") return new Response((await env.BUCKET.createMultipartUpload(key)).uploadId);
    if (request.method === "DELETE" && upload !== null) {
      await env.BUCKET.resumeMultipartUpload(key, upload).abort();
      return new Response("aborted");
    }
    const bytes = Number(url.searchParams.get("bytes"));
    let sent = 0;
    const failing = new ReadableStream({
      pull(controller) {
        if (sent >= bytes) return controller.error(new Error("the source is gone"));
        sent += 16384;
        controller.enqueue(new Uint8Array(16384));
      },
    });
    return new Response(await env.BUCKET.put(key, failing).then(() => "stored", (error) => error.message));
  },
};`;

export interface LeakScene {
  readonly port: number;
  readonly s3: string;
  readonly key: Key;
  ask: Awaited<ReturnType<Scene["start"]>>["ask"];
  /** Waits until no process has a body open and only files of complete objects remain. */
  settled(objects: number): Promise<void>;
  measure(): Measured;
  /** Returns the report of `store verify`. */
  verify(): Promise<{ readonly objects: number; readonly damages: readonly unknown[] }>;
  /** Stops the server and returns its data directory. */
  stop(): Promise<string>;
}

/** Measurements by process ID. Sockets are counted separately: keep-alive connections stay open. */
export interface Measured {
  readonly files: ReadonlyMap<number, number>;
  readonly sockets: ReadonlyMap<number, number>;
  readonly memory: ReadonlyMap<number, number>;
}

export async function openLeakScene(t: { after(end: () => unknown): void }): Promise<LeakScene> {
  const scene = await scriptScene(t as Parameters<typeof scriptScene>[0], source);
  const server = await scene.start("dev");
  const data = realpathSync(join(scene.directory, ".store"));
  const pids = () => [server.pid, ...scriptProcesses(server.pid), ...s3Processes(server.pid)];
  const openBodies = () =>
    pids().flatMap((pid) => openFiles(pid, data).filter((path) => path.includes("/blobs/")));
  const by = (count: (pid: number) => number) => new Map(pids().map((pid) => [pid, count(pid)]));
  return {
    port: server.port,
    s3: server.announced.s3.url,
    key: server.announced.s3 as unknown as Key,
    ask: server.ask,
    async settled(objects) {
      const isSettled = () => openBodies().length === 0 && blobFiles(data).length === objects;
      await until(isSettled, `bodies still open: ${openBodies().length}, files: ${blobFiles(data).length}`);
    },
    measure: () => ({
      files: by((pid) => linksOf(pid).filter((link) => !link.startsWith("socket:")).length),
      sockets: by((pid) => linksOf(pid).filter((link) => link.startsWith("socket:")).length),
      memory: by(residentMemory),
    }),
    async verify() {
      const { code, stdout, stderr } = await scene.shell.run(["verify", "--data", data, "--json"]);
      assert.equal(code, 0, `store verify: ${stderr}${stdout}`);
      return JSON.parse(stdout) as { objects: number; damages: unknown[] };
    },
    async stop() {
      assert.equal((await server.stop()).code, 0, "the server exits with code 0");
      return data;
    },
  };
}

/** Returns the link target of each descriptor. */
function linksOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${descriptor}`)];
    } catch {
      return [];
    }
  });
}
