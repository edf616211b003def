// A temporary folder with scripts, and servers started on them with the real `store` command. After
// the test, servers are stopped and the folder is deleted.
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
  /** Starts a server. Default configuration: store.toml in the scene's folder. */
  start(mode: "dev" | "serve", options?: StartOptions): Promise<Server>;
  /** Sets a secret with `store secret put`. */
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

/** Creates a scene with one script, which has a bucket as env.BUCKET. */
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
  /** Additional lines of the configuration; tables must come last. */
  readonly config?: string;
}

/** Writes a script, into a subfolder if it has a name; returns the path of its configuration. */
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

/** Returns the path of an example's configuration. */
export function example(name: string): string {
  return join(root, "examples", name, "store.toml");
}
