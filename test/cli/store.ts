// Runs the real `store` command in a process, like a shell.
import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { openEngine } from "../../src/open.ts";
import { temporaryDirectory } from "../support/stores.ts";

export const root = fileURLToPath(new URL("../../../", import.meta.url));
export const program = fileURLToPath(new URL("../../src/cli/main.js", import.meta.url));

export interface Outcome {
  /** Exit code, or the signal that ended the process. */
  readonly code: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string | Uint8Array;
  readonly environment?: Readonly<Record<string, string>>;
  /** Id of the user and group to run as; only root can choose it. */
  readonly user?: number;
}

/** A working directory in which `store` is called. */
export interface Shell {
  readonly directory: string;
  start(args: readonly string[], options?: RunOptions): ChildProcessWithoutNullStreams;
  run(args: readonly string[], options?: RunOptions): Promise<Outcome>;
  /** Runs a command, which must succeed; returns its stdout. */
  store(...args: string[]): Promise<string>;
  /** Runs a command that must fail with `code`, without stdout or a stack; returns its stderr. */
  fails(code: 1 | 2, args: readonly string[], options?: RunOptions): Promise<string>;
}

export async function openShell(t: TestContext): Promise<Shell> {
  return shellIn(await temporaryDirectory(t));
}

/** Opens a shell whose data directory contains the bucket "photos". */
export async function openShellWithBucket(t: TestContext): Promise<Shell> {
  const shell = await openShell(t);
  const { engine } = await openEngine(join(shell.directory, ".store"));
  await engine.createBucket("photos");
  await engine.close();
  return shell;
}

export function shellIn(directory: string): Shell {
  function start(args: readonly string[], { environment = {}, user }: RunOptions = {}) {
    const env = { PATH: process.env.PATH, HOME: directory, ...environment };
    return spawn(process.execPath, [program, ...args], {
      ...{ cwd: directory, env },
      ...(user === undefined ? {} : { uid: user, gid: user }),
    });
  }
  async function run(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    const child = start(args, options);
    // A command that ignores its input may exit before the input is written.
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
    return outcomeOf(child);
  }
  return {
    directory,
    start,
    run,
    async store(...args) {
      const { code, stdout, stderr } = await run(args);
      assert.equal(code, 0, `store ${args.join(" ")}: ${stderr}`);
      return stdout;
    },
    async fails(code, args, options) {
      const outcome = await run(args, options);
      const called = `store ${args.join(" ")}`;
      assert.equal(outcome.code, code, `${called}: ${outcome.stderr}${outcome.stdout}`);
      assert.equal(outcome.stdout, "", `${called} prints no result`);
      assert.doesNotMatch(outcome.stderr, /^\s+at /m, `${called} shows no stack`);
      assert.notEqual(outcome.stderr, "", `${called} says why`);
      return outcome.stderr;
    },
  };
}

export async function outcomeOf(child: ChildProcessWithoutNullStreams): Promise<Outcome> {
  const [stdout, stderr, [code, signal]] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  return { code: code ?? signal!, stdout, stderr };
}

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** Returns everything that commands can list: buckets, objects, secrets, access keys. */
export async function contentsOf(directory: string): Promise<unknown> {
  const { engine, documents } = await openEngine(join(directory, ".store"));
  try {
    const buckets = await engine.listBuckets();
    const objects = await Promise.all(buckets.map(({ name }) => engine.list(name)));
    const kinds = ["secret", "credential"].map((kind) => documents.list(kind));
    return { buckets, objects, documents: await Promise.all(kinds) };
  } finally {
    await engine.close();
  }
}

/** Returns every file of a folder with a hash of its contents. */
export async function filesIn(directory: string): Promise<Record<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    const hash = entry.isFile() ? createHash("sha256").update(await readFile(path)) : undefined;
    return [path.slice(directory.length + 1), hash?.digest("hex") ?? "folder"] as const;
  });
  return Object.fromEntries((await Promise.all(files)).sort());
}
