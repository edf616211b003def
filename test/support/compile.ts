// Compiles a project with tsc as a user would, with this package installed.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { typesFile } from "../../src/script/config/types-file.ts";
import type { Project } from "./projects.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const run = promisify(execFile);

/** The defaults of `tsc --init`, with the DOM types and without the types of Node. */
export const webOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: "es2022",
  lib: ["es2023", "dom"],
  types: [] as readonly string[],
  moduleDetection: "force",
  module: "esnext",
  moduleResolution: "bundler",
};

/** Compiler options of a project that uses @cloudflare/workers-types. */
export const workerOptions = { ...webOptions, lib: ["es2023"], types: ["@cloudflare/workers-types"] };

/** Compiles the project; fails with the compiler's output if the project does not compile. */
export async function compile({ directory, write }: Project, compilerOptions: object): Promise<void> {
  await mkdir(join(directory, "node_modules"), { recursive: true });
  await link(root, join(directory, "node_modules", "store-server"));
  for (const scope of ["@cloudflare", "@types", "undici-types"]) {
    await link(join(root, "node_modules", scope), join(directory, "node_modules", scope));
  }
  await write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["src", typesFile] }));
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  await run(process.execPath, [tsc, "-p", "tsconfig.json"], { cwd: directory }).catch(
    ({ stdout, stderr }: { stdout: string; stderr: string }) => assert.fail(`${stdout}${stderr}`),
  );
}

async function link(target: string, path: string): Promise<void> {
  await symlink(target, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}
