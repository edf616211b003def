// Starts and stops the measured servers: Store through its CLI, and peers installed from npm.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Context } from "./section.ts";

export interface StartedStore {
  readonly url: string;
  readonly s3: { readonly url: string };
}

/** Runs `store serve` with index.js and data/ of the directory; `env.BUCKET` is "bench". */
export async function startStore(
  directory: string,
  started: ChildProcess[],
  more: readonly string[] = [],
): Promise<StartedStore> {
  const bindings = { store_buckets: [{ binding: "BUCKET", bucket_name: "bench" }] };
  return startStoreWith(directory, started, { bindings, more });
}

export interface StoreScript {
  /** Bindings to add to the configuration. */
  readonly bindings: object;
  /** Additional arguments of `store serve`. */
  readonly more: readonly string[];
  /** The command line of another build; default: this one's. */
  readonly program?: string | undefined;
}

/** The command line of this build. */
export const ownProgram = fileURLToPath(new URL("../src/cli/main.js", import.meta.url));

/** Like startStore, but with the given bindings instead of `env.BUCKET`. */
export async function startStoreWith(
  directory: string,
  started: ChildProcess[],
  { bindings, more, program = ownProgram }: StoreScript,
): Promise<StartedStore> {
  const config = { name: "bench", main: "index.js", compatibility_date: "2026-11-01" };
  const file = join(directory, "store.json");
  writeFileSync(file, JSON.stringify({ ...config, ...bindings }));
  const data = join(directory, "data");
  const ports = ["--port", "0", "--s3-port", "0", "--console-port", "0"];
  const args = [program, "serve", "--config", file, "--data", data, ...ports, ...more, "--json"];
  return JSON.parse(await firstDocument(start(args, started))) as StartedStore;
}

/** Runs `store serve` with several scripts; each value is the content of a configuration. */
export async function startStoreScripts(
  directory: string,
  started: ChildProcess[],
  scripts: readonly { readonly name: string }[],
): Promise<StartedStore> {
  const files = scripts.map((script) => {
    const file = join(directory, `${script.name}.json`);
    writeFileSync(file, JSON.stringify({ compatibility_date: "2026-10-01", ...script }));
    return ["--config", file];
  });
  const ports = ["--port", "0", "--s3-port", "0", "--console-port", "0"];
  const data = ["--data", join(directory, "data")];
  const args = [ownProgram, "serve", ...files.flat(), ...data, ...ports, "--json"];
  return JSON.parse(await firstDocument(start(args, started))) as StartedStore;
}

/** Installs a package into `.cache`, not as a dependency, and returns the package's folder. */
export async function installPeer(context: Context, name: string, version: string): Promise<string> {
  const cache = join(process.cwd(), ".cache", name);
  if (!existsSync(join(cache, "node_modules", name))) {
    context.progress(`installing ${name} ${version}`);
    mkdirSync(cache, { recursive: true });
    const install = ["install", "--no-save", "--no-package-lock", "--prefix", cache];
    await promisify(execFile)("npm", [...install, `${name}@${version}`], { timeout: 180_000 });
  }
  return cache;
}

/** Sends SIGTERM, so that the process can end its own children; after 10 seconds, SIGKILL. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
  await exited;
  clearTimeout(late);
}

export function start(args: readonly string[], started: ChildProcess[]): ChildProcess {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

const running = new Set<ChildProcess>();
// End the servers that still run when the benchmark is interrupted.
process.once("exit", () => {
  for (const child of running) child.kill();
});

/** Returns the first JSON document a process prints, on one or more lines. */
export async function firstDocument(child: ChildProcess): Promise<string> {
  const exited = once(child, "exit").then(() => {
    throw new Error("Cannot measure: a server ended before it was ready");
  });
  exited.catch(() => {});
  const read = async () => {
    let text = "";
    for await (const line of createInterface({ input: child.stdout! })) {
      text += `${line}\n`;
      try {
        JSON.parse(text);
        return text;
      } catch {
        // The document is incomplete: read the next line.
      }
    }
    return exited;
  };
  return Promise.race([read(), exited]);
}
