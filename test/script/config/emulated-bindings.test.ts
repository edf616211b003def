// Rate limiters and datasets of a wrangler file, which Store emulates.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "../../../src/script/config/config.ts";
import { now, project } from "../../support/projects.ts";
import { openScene } from "../scene.ts";

const least = 'name = "gallery"\nmain = "src/index.ts"\ncompatibility_date = "2026-01-01"\n';

test("rate limiters and analytics datasets are parsed, and a note says that data points are dropped", async (t) => {
  const { write } = await project(t);
  const text = `${least}
ratelimits = [{ name = "LIMITER", namespace_id = "1", simple = { limit = 20, period = 60 } }]
analytics_engine_datasets = [{ binding = "POINTS", dataset = "points" }]
[[unsafe.bindings]]
name = "OLD"
type = "ratelimit"
namespace_id = "2"
simple = { limit = 5, period = 10 }
`;
  const config = readConfig(await write("wrangler.toml", text), { now });
  assert.deepEqual(config.emulated, [
    { kind: "rate limiter", binding: "LIMITER", limit: 20, periodSeconds: 60 },
    { kind: "rate limiter", binding: "OLD", limit: 5, periodSeconds: 10 },
    { kind: "dataset", binding: "POINTS" },
  ]);
  assert.deepEqual(config.unsupported, []);
  assert.deepEqual(config.notes, ["wrangler.toml: data points written to POINTS are dropped."]);
});

test("a rate limiter without a limit or with an unsupported period is refused with a correction", async (t) => {
  const { write } = await project(t);
  const faulty = ["", ", simple = { limit = 0, period = 60 }", ", simple = { limit = 5, period = 30 }"];
  for (const simple of faulty) {
    const file = await write("wrangler.toml", `${least}ratelimits = [{ name = "LIMITER"${simple} }]\n`);
    assert.throws(
      () => readConfig(file, { now }),
      /wrangler\.toml:4:\d+: The rate limiter "LIMITER" needs a limit and a period of 10 or 60 seconds\.[\s\S]*Write: simple = \{ limit = 100, period = 60 \}/,
    );
  }
});

test("a rate limiter with the name of another binding is refused", async (t) => {
  const { write } = await project(t);
  const text = `${least}ratelimits = [{ name = "X", simple = { limit = 1, period = 10 } }]\n[vars]\nX = "1"\n`;
  const file = await write("wrangler.toml", text);
  assert.throws(() => readConfig(file, { now }), /"X" is already the name of a rate limiter, on line 4\./);
});

const source = `export default {
  async fetch(request, env) {
    env.POINTS.writeDataPoint({ blobs: ["a"] });
    const { success } = await env.LIMITER.limit({ key: "k" });
    const classes = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.constructor.name]));
    return Response.json({ classes, tag: String(env.FILES) }, { status: success ? 200 : 429 });
  },
};
`;

test("a script can use rate limiters and datasets, and each binding has a class name such as R2Bucket", async (t) => {
  const scene = await openScene(t);
  await scene.write("src/index.ts", source);
  await scene.write(
    "wrangler.toml",
    `${least}r2_buckets = [{ binding = "FILES", bucket_name = "files" }]
kv_namespaces = [{ binding = "CACHE", id = "cache" }]
d1_databases = [{ binding = "DB" }]
ratelimits = [{ name = "LIMITER", simple = { limit = 1, period = 60 } }]
analytics_engine_datasets = [{ binding = "POINTS" }]
`,
  );
  const server = await scene.start("dev");
  const first = await server.ask("/");
  assert.deepEqual(JSON.parse(first.text), {
    classes: {
      FILES: "R2Bucket",
      CACHE: "KvNamespace",
      LIMITER: "RateLimiter",
      POINTS: "AnalyticsDataset",
      DB: "Unsupported",
    },
    tag: "[object R2Bucket]",
  });
  // The limit is 1. At most one period can end meanwhile, so one of the requests must be refused.
  const statuses = [first.status, (await server.ask("/")).status, (await server.ask("/")).status];
  assert.ok(statuses.includes(429), String(statuses));
});
