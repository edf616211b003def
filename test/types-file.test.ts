// The types of a script's env: written from its configuration, and judged by the compiler.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { envTypes, typesFile } from "../src/script/types-file.ts";
import { type Project, project } from "./support/projects.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const run = promisify(execFile);

const config = `name = "photos"
main = "src/index.ts"
compatibility_date = "2026-11-01"
[[store_buckets]]
binding = "PHOTOS"
bucket_name = "photos"
[vars]
GREETING = "hello"
LIMIT = 10
DEBUG = false
"my-var" = "x"
SIZES = [1, 2.5]
MIXED = [1, "a", { x = true }]
EMPTY = []
[vars.NESTED]
deep = { on = true, "with space" = "y" }
none = {}
`;

test("Env has every bucket, variable and secret with its type", async (t) => {
  const { read } = await project(t);
  assert.equal(
    envTypes(await read("store.toml", config), ["TOKEN", "AUTH_KEY_SECRET"]),
    `// Written by \`store types\` from store.toml: run it again after a change instead of editing this.
import type { StoreBucket } from "store";

declare global {
  interface Env {
    /** The bucket photos. */
    PHOTOS: StoreBucket;
    GREETING: string;
    LIMIT: number;
    DEBUG: boolean;
    "my-var": string;
    SIZES: number[];
    MIXED: (number | string | {
      x: boolean;
    })[];
    EMPTY: never[];
    NESTED: {
      deep: {
        on: boolean;
        "with space": string;
      };
      none: Record<string, never>;
    };
    /** A secret. */
    AUTH_KEY_SECRET: string;
    /** A secret. */
    TOKEN: string;
  }
}
`,
  );
});

const script = `
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function holds<_Check extends true>(): void {}
holds<Equal<Env["GREETING"], string>>();
holds<Equal<Env["AUTH_KEY_SECRET"], string>>();
holds<Equal<Env["SIZES"], number[]>>();
holds<Equal<Env["NESTED"]["deep"]["with space"], string>>();

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const object = await env.PHOTOS.get(new URL(request.url).pathname.slice(1));
    if (object === null) return new Response(env.GREETING.toUpperCase(), { status: 404 });
    const limit: number = env.LIMIT + (env.DEBUG ? 1 : 0);
    // @ts-expect-error: a bucket has no such method
    env.PHOTOS.grab("key");
    // @ts-expect-error: a number is no string
    env.LIMIT.toUpperCase();
    // @ts-expect-error: no such binding
    env.PHOTO;
    return new Response(object.body, { headers: { "x-limit": String(limit) } });
  },
};
`;

/** As `tsc --init` sets them, and without Node's types: scripts have those of the web. */
const options = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: "es2022",
  lib: ["es2023", "dom"],
  types: [],
  moduleDetection: "force",
};

/** Compiles the project as its author would, with the package installed. */
async function compile({ directory, write }: Project, compilerOptions: object): Promise<void> {
  await mkdir(join(directory, "node_modules"), { recursive: true });
  await symlink(root, join(directory, "node_modules", "store")).catch(() => {});
  await write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["src", typesFile] }));
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  await run(process.execPath, [tsc, "-p", "tsconfig.json"], { cwd: directory }).catch(
    ({ stdout, stderr }: { stdout: string; stderr: string }) => assert.fail(`${stdout}${stderr}`),
  );
}

test("a script is compiled against it, without importing anything", async (t) => {
  const opened = await project(t);
  const env = envTypes(await opened.read("store.toml", config), ["AUTH_KEY_SECRET"]);
  await opened.write(typesFile, env);
  await opened.write("src/index.ts", script);
  await compile(opened, { ...options, module: "esnext", moduleResolution: "bundler" });
  await compile(opened, { ...options, module: "nodenext" });
});

test("without a bucket it is a module all the same", async (t) => {
  const opened = await project(t);
  const bare = config.replace(/\[\[store_buckets\]\][^[]*/, "");
  const env = envTypes(await opened.read("store.toml", bare), []);
  assert.doesNotMatch(env, /import/);
  await opened.write(typesFile, env);
  await opened.write("src/index.ts", "export const greeting = (env: Env): string => env.GREETING;\n");
  await compile(opened, { ...options, module: "esnext", moduleResolution: "bundler" });
  const empty = envTypes({ ...(await opened.read("store.toml", bare)), vars: {} }, []);
  await opened.write(typesFile, empty);
  await opened.write("src/index.ts", "export const keys = (env: Env): string[] => Object.keys(env);\n");
  await compile(opened, { ...options, module: "esnext", moduleResolution: "bundler" });
});
