// The server of the overload proof, with a script, S3 API, console and public bucket, a descriptor
// limit and, if possible, a small disk. Attackers, probe and writer run as separate processes.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { encodeText } from "../../../src/http/sigv4.ts";
import { limitedShell } from "../../cli/limited-shell.ts";
import type { Shell } from "../../cli/store.ts";
import { sendRaw, signRaw } from "../../s3/raw.ts";
import type { Key } from "../../s3/scene.ts";
import { configText } from "../../script/scene.ts";
import { type Server, startServer } from "../../script/server.ts";
import { type CalledProcess, type Calls, startCalledProcess } from "../../support/called-process.ts";
import { mountSmallDisk, type SmallDisk } from "../../support/disk/small-disk.ts";
import type { AttackerCalls } from "./attacker.ts";
import type { ProbeCalls, ProbedPlace } from "./probe.ts";
import { script } from "./script.ts";
import type { WriterCalls } from "./writer.ts";

export type Port = "s3" | "script" | "console" | "public";

export interface OverloadScene {
  readonly server: Server;
  /** Runs commands on the server's data directory. */
  readonly shell: Shell;
  readonly disk: SmallDisk;
  readonly ports: Readonly<Record<Port, number>>;
  readonly url: string;
  readonly key: Key;
  /** One request per port; each must be answered with 200. */
  readonly places: readonly ProbedPlace[];
  readonly attackers: readonly CalledProcess<AttackerCalls>[];
  readonly probe: CalledProcess<ProbeCalls>;
  readonly writer: CalledProcess<WriterCalls>;
  /** Returns a path of the S3 API presigned for this method, valid for a week. */
  presigned(method: string, path: string): string;
  /** Signs in to the console; returns the cookie of the session. */
  signIn(): Promise<string>;
  close(): Promise<void>;
}

const MiB = 1024 * 1024;
const diskBytes = 256 * MiB;
/** Size of the object that slow readers request. */
export const largeBytes = 5 * MiB;
const longestExpiry = 604_800;

export async function openOverloadScene(descriptors: number | string): Promise<OverloadScene> {
  const ends: (() => unknown)[] = [];
  const close = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    return { ...(await openWith(ends, descriptors)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openWith(
  ends: (() => unknown)[],
  descriptors: number | string,
): Promise<Omit<OverloadScene, "close">> {
  const folder = await mkdtemp(join(tmpdir(), "store-overload-"));
  ends.push(() => rm(folder, { recursive: true, force: true }));
  const disk = mountSmallDisk(folder, diskBytes);
  ends.push(() => disk.remove());
  const { directory } = disk;
  await mkdir(join(directory, "src"));
  await writeFile(join(directory, "src/index.ts"), script);
  await writeFile(join(directory, "store.toml"), configText("script", ""));
  const shell = limitedShell(directory, descriptors);
  const servers: Server[] = [];
  ends.push(() => Promise.all(servers.map((server) => server.end())));
  // Bundles and sockets of scripts are temporary files; keep them off the disk that is filled.
  const server = await startServer(
    shell,
    "serve",
    { args: ["--public-port", "0", "--script-memory", "64"], environment: { TMPDIR: folder } },
    servers,
  );
  const key = JSON.parse(await shell.store("key", "create", "--json")) as Key;
  const { url } = server.announced.s3;
  const presigned = (method: string, path: string) => {
    const { query } = signRaw(url, { method, path }, { key, form: "query", expires: longestExpiry });
    return `${path}?${query.map(([name, value]) => `${name}=${encodeText(value)}`).join("&")}`;
  };
  const announced = server.announced as Server["announced"] & { readonly public: { readonly url: string } };
  const ports = {
    s3: portOf(url),
    script: server.port,
    console: portOf(announced.console.url),
    public: portOf(announced.public.url),
  };
  await fill(shell, url, key);
  const attackers = [1, 2].map(() => started<AttackerCalls>(ends, "./attacker.js"));
  const probe = started<ProbeCalls>(ends, "./probe.js");
  const writer = started<WriterCalls>(ends, "./writer.js");
  const places = [
    { name: "script", port: ports.script, path: "/good" },
    { name: "s3", port: ports.s3, path: presigned("GET", "/bucket/small") },
    { name: "healthz", port: ports.console, path: "/healthz" },
    { name: "readyz", port: ports.console, path: "/readyz" },
    { name: "public", port: ports.public, path: "/site/small" },
  ];
  const signIn = () => signInToConsole(shell, announced.console.url);
  return { server, shell, disk, ports, url, key, places, attackers, probe, writer, presigned, signIn };
}

async function signInToConsole(shell: Shell, url: string): Promise<string> {
  const { token } = JSON.parse(await shell.store("console", "token", "--name", "burst", "--json")) as {
    readonly token: string;
  };
  const headers = { "x-store-console": "1", "content-type": "application/json", origin: url };
  const body = JSON.stringify({ token });
  const response = await fetch(`${url}/api/session`, { method: "POST", headers, body });
  assert.equal(response.status, 200, await response.text());
  return response.headers.getSetCookie()[0]!.split(";")[0]!;
}

function portOf(address: string): number {
  return Number(new URL(address).port);
}

function started<C extends Calls>(ends: (() => unknown)[], file: string): CalledProcess<C> {
  const process = startCalledProcess<C>(fileURLToPath(new URL(file, import.meta.url)));
  ends.push(() => process.end());
  return process;
}

async function fill(shell: Shell, url: string, key: Key): Promise<void> {
  const put = async (path: string, body = Buffer.alloc(0)) => {
    const { status, text } = await sendRaw(
      url,
      signRaw(url, { method: "PUT", path, body }, { key, form: "header" }),
    );
    assert.equal(status, 200, text);
  };
  await put("/site");
  for (const bucket of ["site", "bucket"]) {
    await put(`/${bucket}/small`, Buffer.from("small"));
    await put(`/${bucket}/large`, Buffer.alloc(largeBytes, "large "));
  }
  await shell.store("bucket", "public", "site");
}
