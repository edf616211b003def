// Metrics, health and request log of a running server, as monitoring programs read them.
import assert from "node:assert/strict";
import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { root } from "../cli/store.ts";
import { s3Processes } from "../s3/inside.ts";
import { type S3Scene, s3Scene } from "../s3/scene.ts";
import { until } from "../script/inside.ts";
import { familiesOf, readPrometheus, type Samples } from "./prometheus-text.ts";

const script = `
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/fault") throw new Error("on purpose");
    return new Response("fine", { status: pathname === "/made" ? 201 : 200 });
  },
};`;

interface Watched extends S3Scene {
  readonly console: string;
  readonly token: string;
  metrics(): Promise<Samples>;
  /** Returns the response of /metrics. */
  text(): Promise<string>;
  lines(): Line[];
}

type Line = Readonly<Record<string, unknown>>;

async function watched(t: TestContext, ...args: string[]): Promise<Watched> {
  const scene = await s3Scene(t, "serve", ["--request-log", "requests.log", ...args], script);
  const made = await scene.scene.shell.run([
    "console",
    "token",
    "--data",
    scene.data,
    "--name",
    "watcher",
    "--json",
  ]);
  const { token } = JSON.parse(made.stdout) as { token: string };
  const { url } = scene.server.announced.console;
  async function text(): Promise<string> {
    const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(response.status, 200);
    return response.text();
  }
  return {
    ...scene,
    console: url,
    token,
    text,
    metrics: async () => readPrometheus(await text()),
    lines: () => linesOf(join(scene.scene.directory, "requests.log")),
  };
}

function isSame(samples: Samples, expected: Readonly<Record<string, number>>): boolean {
  return Object.entries(expected).every(([sample, value]) => samples.get(sample) === value);
}

function linesOf(file: string): Line[] {
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Line);
}

test("metrics count the requests of every front end, and do not decrease when a process dies or hangs", async (t) => {
  const { client, server, metrics, text, url } = await watched(t);
  const s3 = client();
  for (const key of ["a", "b"]) {
    await s3.send(new PutObjectCommand({ Bucket: "bucket", Key: key, Body: "12345" }));
  }
  await (await s3.send(new GetObjectCommand({ Bucket: "bucket", Key: "a" }))).Body?.transformToString();
  await assert.rejects(s3.send(new GetObjectCommand({ Bucket: "bucket", Key: "none" })));
  for (const path of ["/", "/made", "/fault"])
    await (await fetch(server.announced.url + path.slice(1))).text();

  const name = server.announced.scripts[0]!.name;
  const expected: Readonly<Record<string, number>> = {
    'store_requests_total{face="s3",operation="PutObject",status="2xx"}': 2,
    'store_requests_total{face="s3",operation="GetObject",status="2xx"}': 1,
    'store_requests_total{face="s3",operation="GetObject",status="4xx"}': 1,
    'store_errors_total{face="s3",code="NoSuchKey"}': 1,
    'store_request_duration_seconds_count{face="s3",operation="GetObject"}': 2,
    [`store_requests_total{face="script",operation="${name}",status="2xx"}`]: 2,
    [`store_requests_total{face="script",operation="${name}",status="5xx"}`]: 1,
    'store_errors_total{face="script",code="Exception"}': 1,
    store_committed_changes_total: 2,
    store_commit_queue: 0,
    'store_sync_seconds_count{what="body"}': 0,
  };
  let first = await metrics();
  // A busy process reports its last snapshot first, so the final counts arrive later.
  await until(async () => {
    first = await metrics();
    return isSame(first, expected);
  }, "everything is counted").catch(() => {});
  for (const [sample, value] of Object.entries(expected)) assert.equal(first.get(sample), value, sample);
  assert.ok(first.get('store_received_bytes_total{face="s3",operation="PutObject"}')! >= 10);
  await until(async () => {
    const now = await metrics();
    return (
      now.get('store_bucket_objects{bucket="bucket"}') === 2 &&
      now.get('store_bucket_bytes{bucket="bucket"}') === 10
    );
  }, "the size of the bucket is published");

  checkNames(familiesOf(await text()));

  const [one, other] = s3Processes(server.pid);
  process.kill(one!, "SIGKILL");
  await until(() => !s3Processes(server.pid).includes(one!), "the process has ended");
  const puts = 'store_requests_total{face="s3",operation="PutObject",status="2xx"}';
  assert.equal((await metrics()).get(puts), 2);
  const still = other ?? s3Processes(server.pid)[0]!;
  process.kill(still, "SIGSTOP");
  try {
    assert.equal((await metrics()).get(puts), 2);
  } finally {
    process.kill(still, "SIGCONT");
  }
  await s3.send(new HeadObjectCommand({ Bucket: "bucket", Key: "a" }));
  const heads = 'store_requests_total{face="s3",operation="HeadObject",status="2xx"}';
  await until(async () => (await metrics()).get(heads) === 1, `a head is counted by ${url}`);
});

const clusterOnly = [
  "store_body_cache_bytes_total",
  "store_body_cache_evictions_total",
  "store_body_cache_lookups_total",
  "store_database_connections",
];

/** Checks that the docs list exactly the published metrics and the dashboard uses only these. */
function checkNames(published: readonly string[]): void {
  const page = readFileSync(join(root, "docs/observing.md"), "utf8");
  const listed = [...page.matchAll(/^\| `(store_[a-z_]+)` \|/gm)].map(([, name]) => name!);
  assert.deepEqual([...published, ...clusterOnly].sort(), listed.sort());
  const dashboard = readFileSync(join(root, "packaging/grafana-dashboard.json"), "utf8");
  assert.doesNotThrow(() => JSON.parse(dashboard));
  for (const text of [dashboard, page]) {
    for (const [name] of text.matchAll(/\bstore_[a-z_]+/g)) {
      const family = name.replace(/_(bucket|count|sum)$/, "");
      assert.ok(listed.includes(name) || listed.includes(family), `${name} is published by a server`);
    }
  }
}

test("the health endpoint is public, and the metrics endpoint requires a token", async (t) => {
  const { console, token } = await watched(t);
  const ask = async (path: string, headers: Record<string, string> = {}, method = "GET") => {
    const response = await fetch(console + path, { headers, method });
    return [response.status, await response.text()] as const;
  };
  assert.deepEqual(await ask("/healthz"), [200, "ok\n"]);
  assert.deepEqual(await ask("/healthz", {}, "HEAD"), [200, ""]);
  assert.deepEqual(await ask("/readyz"), [200, "ready\n"]);
  assert.equal((await ask("/healthz", {}, "POST"))[0], 405);
  assert.equal((await ask("/metrics"))[0], 401);
  assert.equal((await ask("/metrics", { authorization: `Bearer ${token.slice(0, -1)}` }))[0], 401);
  assert.equal((await ask("/metrics", { authorization: `Bearer ${token}` }))[0], 200);
});

test("a request has one id in its header, error and log line, and no log line contains a secret", async (t) => {
  const { client, key, server, url, lines, scene, token, console } = await watched(t);
  const s3 = client();
  const customerKey = Buffer.alloc(32, "customer's own key, 32 bytes....");
  const sealed = { SSECustomerAlgorithm: "AES256", SSECustomerKey: customerKey.toString("base64") };
  await s3.send(new PutObjectCommand({ Bucket: "bucket", Key: "sealed", Body: "x", ...sealed }));
  const signed = await getSignedUrl(s3, new GetObjectCommand({ Bucket: "bucket", Key: "päth/none" }));
  const missing = await fetch(signed);
  const document = await missing.text();
  const id = missing.headers.get("x-amz-request-id")!;
  assert.match(document, new RegExp(`<RequestId>${id}</RequestId>`));
  const cookie = "session=a-cookie-of-somebody";
  const authorization = "Bearer a-token-of-a-script";
  const answer = await fetch(`${server.announced.url}fault?password=in-the-query`, {
    headers: { cookie, authorization },
  });
  await answer.text();
  await (await fetch(`${console}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();
  await (
    await fetch(`${url}/bucket/none`, {
      headers: { authorization: `AWS4-HMAC-SHA256 ${key.secretAccessKey}` },
    })
  ).text();

  const line = async (wanted: (line: Line) => boolean) => {
    await until(() => lines().some(wanted), "the line is written");
    return lines().find(wanted)!;
  };
  const get = await line((one) => one.id === id);
  assert.deepEqual(
    [get.face, get.method, get.operation, get.bucket, get.key, get.status, get.errorCode, get.accessKeyId],
    ["s3", "GET", "GetObject", "bucket", "päth/none", 404, "NoSuchKey", key.accessKeyId],
  );
  assert.equal(get.remoteAddress, "127.0.0.1");
  const fault = await line((one) => one.id === answer.headers.get("x-request-id"));
  assert.deepEqual([fault.face, fault.status, fault.errorCode], ["script", 500, "Exception"]);
  await line((one) => one.face === "console");
  await line((one) => one.face === "s3" && one.operation === "GetObject" && one.key === "none");

  const file = join(scene.directory, "requests.log");
  renameSync(file, `${file}.1`);
  await until(async () => {
    await (await fetch(server.announced.url)).text();
    try {
      return linesOf(file).length > 0;
    } catch {
      return false;
    }
  }, "a new log file follows the renamed one");
  await server.stop();
  const all = readFileSync(`${file}.1`, "utf8") + readFileSync(file, "utf8");
  const query = new URL(signed).searchParams;
  const secrets = [
    ...[key.secretAccessKey, sealed.SSECustomerKey, customerKey.toString(), query.get("X-Amz-Signature")!],
    ...[token, "a-cookie-of-somebody", "a-token-of-a-script", "in-the-query", "X-Amz", "AWS4-HMAC"],
  ];
  for (const secret of secrets) assert.ok(!all.includes(secret), secret);
});

test("charts of the console show what a server counted before it was restarted", async (t) => {
  const { scene, server, token } = await watched(t);
  for (let i = 0; i < 5; i++) await server.ask("/fine");
  await server.stop("SIGTERM");
  const { url } = (await scene.start("serve")).announced.console;
  const headers = { "x-store-console": "1", "content-type": "application/json", origin: url };
  const signedIn = await fetch(`${url}/api/session`, {
    ...{ method: "POST", headers, body: JSON.stringify({ token }) },
  });
  const cookie = signedIn.headers.getSetCookie()[0]!.split(";")[0]!;
  for (const span of ["hour", "day", "week", "month"]) {
    const response = await fetch(`${url}/api/metrics?span=${span}&face=script`, {
      headers: { ...headers, cookie },
    });
    const { points } = (await response.json()) as { points: { requests: number }[] };
    assert.ok(
      points.some(({ requests }) => requests > 0),
      `${span}: ${JSON.stringify(points)}`,
    );
  }
});
