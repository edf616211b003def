// The types file of a script's env: generated from its configuration and checked by the compiler.
import assert from "node:assert/strict";
import { test } from "node:test";
import { envTypes, typesFile } from "../../../src/script/config/types-file.ts";
import { compile, webOptions, workerOptions } from "../../support/compile.ts";
import { project } from "../../support/projects.ts";

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

test("the generated Env type has every bucket, variable and secret with its type", async (t) => {
  const { read } = await project(t);
  assert.equal(
    envTypes(await read("store.toml", config), ["TOKEN", "AUTH_KEY_SECRET"]),
    `// Written by \`store types\` from store.toml: run it again after a change instead of editing this.
declare namespace Cloudflare {
  interface Env {
    /** The bucket photos. */
    PHOTOS: import("store-server").StorePresigningBucket;
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

interface Env extends Cloudflare.Env {}

// A pattern, so that an exact declaration of the module in another package takes precedence.
declare module "cloudflare:workers*" {
  export const env: Cloudflare.Env;
}
`,
  );
});

const allBindings = {
  buckets: [{ binding: "FILES", bucketName: "files" }],
  kvNamespaces: [{ binding: "CACHE", namespace: "cache" }],
  assets: {
    directory: "/public",
    binding: "ASSETS",
    notFoundHandling: "none",
    htmlHandling: "none",
    runWorkerFirst: false,
  },
  emulated: [
    { kind: "rate limiter", binding: "LIMITER", limit: 1, periodSeconds: 10 },
    { kind: "dataset", binding: "POINTS" },
  ],
  unsupported: [{ binding: "DB", kind: "a D1 database" }],
  vars: {},
} as const;

test("the generated Env type has every kind of binding, and unsupported bindings have the type unknown", async (t) => {
  const { read } = await project(t);
  const text = envTypes({ ...(await read("store.toml", config)), ...allBindings }, []);
  const env = text.slice(text.indexOf("interface Env {"), text.indexOf("  }\n"));
  assert.equal(
    env,
    `interface Env {
    /** The bucket files. */
    FILES: import("store-server").StorePresigningBucket;
    /** The key-value namespace cache. */
    CACHE: import("store-server").StoreKvNamespace;
    /** The static files. */
    ASSETS: import("store-server").StoreAssets;
    /** A rate limiter that counts per process. */
    LIMITER: { limit(options: { key: string }): Promise<{ success: boolean }> };
    /** A dataset: data points are dropped. */
    POINTS: { writeDataPoint(point?: object): void };
    /** Not available: Store does not have a D1 database. Using this binding fails. */
    DB: unknown;
`,
  );
  const { kvNamespaces: _, ...others } = allBindings;
  assert.doesNotMatch(envTypes({ ...(await read("store.toml", config)), ...others }, []), /Kv/);
  const unbound = { ...allBindings, assets: { ...allBindings.assets, binding: undefined } };
  assert.doesNotMatch(envTypes({ ...(await read("store.toml", config)), ...unbound }, []), /ASSETS/);
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
    // @ts-expect-error: a number is not a string
    env.LIMIT.toUpperCase();
    // @ts-expect-error: no such binding
    env.PHOTO;
    return new Response(object.body, { headers: { "x-limit": String(limit) } });
  },
};
`;

test("a script compiles with the generated Env type without importing it", async (t) => {
  const opened = await project(t);
  const env = envTypes(await opened.read("store.toml", config), ["AUTH_KEY_SECRET"]);
  await opened.write(typesFile, env);
  await opened.write("src/index.ts", script);
  await compile(opened, webOptions);
  await compile(opened, { ...webOptions, module: "nodenext", moduleResolution: "nodenext" });
  await compile(opened, workerOptions);
});

const handlers = `import { env as imported } from "cloudflare:workers";
import type { StoreScript } from "store-server";

export const photos: Env["PHOTOS"] = imported.PHOTOS;
// @ts-expect-error: no such binding
imported.PHOTO;

export default {
  async fetch(request, env, ctx) {
    ctx.waitUntil(env.PHOTOS.put("last", request.url));
    const url = await env.PHOTOS.presign("last", { expiresIn: 60 });
    return (await env.ASSETS.fetch(request)) ?? Response.json({ url, limit: imported.LIMIT.toFixed() });
  },
  async scheduled(event, env) {
    const time: Date = new Date(event.scheduledTime);
    await env.PHOTOS.put(event.cron, time.toISOString());
    // @ts-expect-error: not available, so it cannot be used
    env.DB.prepare("select 1");
  },
  async notification(event, env) {
    await env.PHOTOS.delete(event.key);
  },
} satisfies StoreScript<Env>;
`;

test("a secret that is listed twice, or has the name of a variable, is once in the generated Env type", async (t) => {
  const { read } = await project(t);
  const text = envTypes(await read("store.toml", config), ["TOKEN", "LIMIT", "TOKEN"]);
  assert.deepEqual(text.match(/ (TOKEN|LIMIT): \w+;/g), [" LIMIT: number;", " TOKEN: string;"]);
});

test("StoreScript checks the types of handlers, and env can be imported from cloudflare:workers", async (t) => {
  const opened = await project(t);
  const { assets, unsupported } = allBindings;
  const read = await opened.read("store.toml", config);
  await opened.write(typesFile, envTypes({ ...read, assets, unsupported }, []));
  await opened.write("src/index.ts", handlers);
  await compile(opened, webOptions);
  await compile(opened, workerOptions);
  await opened.write(
    "src/index.ts",
    `import type { StoreScript } from "store-server";
export default {
  // @ts-expect-error: a fetch handler returns a Response
  fetch: () => "text",
} satisfies StoreScript<Env>;
`,
  );
  await compile(opened, webOptions);
});

test("the generated Env type is global even if no bucket is configured", async (t) => {
  const opened = await project(t);
  const bare = config.replace(/\[\[store_buckets\]\][^[]*/, "");
  const env = envTypes(await opened.read("store.toml", bare), []);
  assert.doesNotMatch(env, /import\(/);
  await opened.write(typesFile, env);
  await opened.write("src/index.ts", "export const greeting = (env: Env): string => env.GREETING;\n");
  await compile(opened, webOptions);
  const empty = envTypes({ ...(await opened.read("store.toml", bare)), vars: {} }, []);
  await opened.write(typesFile, empty);
  await opened.write("src/index.ts", "export const keys = (env: Env): string[] => Object.keys(env);\n");
  await compile(opened, webOptions);
});
