// A folder with scripts in it, the servers started on them, and the commands called beside: all by the real
// `store` command. When the test ends, servers are ended and the folder is gone.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { root, type Shell, shellIn } from "../cli/store.ts";
import { type Server, type StartOptions, startServer } from "./server.ts";

export interface Scene {
  readonly directory: string;
  readonly shell: Shell;
  write(name: string, content: string | Uint8Array): Promise<string>;
  /** A server on the configurations, those of the scene's folder unless given. */
  start(mode: "dev" | "serve", options?: StartOptions): Promise<Server>;
  /** Sets a secret by the command, its value by stdin. */
  secret(name: string, value: string, config?: string): Promise<void>;
}

export async function openScene(t: Pick<TestContext, "after">): Promise<Scene> {
  const directory = await mkdtemp(join(tmpdir(), "store-test-"));
  const shell = shellIn(directory);
  const servers: Server[] = [];
  t.after(async () => {
    await Promise.all(servers.map((server) => server.end()));
    await rm(directory, { recursive: true, force: true });
  });
  return {
    directory,
    shell,
    async write(name, content) {
      const file = join(directory, name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
      return file;
    },
    async start(mode, options = {}) {
      return startServer(shell, mode, options, servers);
    },
    async secret(name, value, config = "store.toml") {
      const args = ["secret", "put", name, "--config", config, "--data", join(directory, ".store")];
      const { code, stderr } = await shell.run(args, { input: `${value}\n` });
      assert.equal(code, 0, stderr);
    },
  };
}

/** One script with a bucket as env.BUCKET, its handlers as an expression. */
export async function scriptScene(
  t: Pick<TestContext, "after">,
  source: string,
  config = "",
): Promise<Scene> {
  const scene = await openScene(t);
  await writeScript(scene, { source, config });
  return scene;
}

export interface WrittenScript {
  readonly name?: string;
  readonly source: string;
  /** Further lines of the configuration, tables last. */
  readonly config?: string;
}

/** At the top of the scene, or under a name in a folder of it. The path of its configuration. */
export async function writeScript(
  scene: Scene,
  { name, source, config = "" }: WrittenScript,
): Promise<string> {
  const folder = name === undefined ? "" : `${name}/`;
  await scene.write(`${folder}src/index.ts`, source);
  return scene.write(`${folder}store.toml`, configText(name ?? "script", config));
}

export function configText(name: string, further: string): string {
  const isTable = (line: string) => line.startsWith("[");
  const lines = further.split("\n");
  const firstTable = lines.findIndex(isTable);
  const top = firstTable === -1 ? lines : lines.slice(0, firstTable);
  const tables = firstTable === -1 ? [] : lines.slice(firstTable);
  return [
    `name = "${name}"`,
    'main = "src/index.ts"',
    'compatibility_date = "2026-11-01"',
    ...top,
    "[[store_buckets]]",
    'binding = "BUCKET"',
    'bucket_name = "bucket"',
    ...tables,
    "",
  ].join("\n");
}

/** The configuration of an example. */
export function example(name: string): string {
  return join(root, "examples", name, "store.toml");
}
