// Checks the Helm chart with helm and the compose file with docker compose, where they are installed.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../../cli/store.ts";

const chart = join(root, "packaging/helm/store");
const helmProgram = process.env.HELM ?? "helm";
const helm = (...args: string[]) => spawnSync(helmProgram, args, { encoding: "utf8" });
const cluster = ["--set", "mode=cluster", "--set", "replicas=3", "--set", "cluster.secretName=store-cluster"];

test("helm accepts the chart in both modes and refuses wrong values", (t) => {
  if (helm("version").error !== undefined) return t.skip("helm is not installed (or named by HELM)");
  for (const values of [[], cluster]) {
    const linted = helm("lint", "--strict", chart, ...values);
    assert.equal(linted.status, 0, linted.stdout + linted.stderr);
  }
  const single = helm("template", "store", chart).stdout;
  assert.deepEqual(kindsOf(single), ["Service", "StatefulSet"]);
  const several = helm("template", "store", chart, ...cluster);
  assert.deepEqual(kindsOf(several.stdout), ["Deployment", "Job", "Service"], several.stderr);
  assert.match(several.stdout, /replicas: 3/);
  assert.match(
    helm("template", "store", chart, "--set", "mode=cluster").stderr,
    /cluster\.secretName is required/,
  );
  for (const wrong of ["mode=both", "replicas=0", "persistence.size=ten", "colour=red"]) {
    assert.notEqual(helm("template", "store", chart, "--set", wrong).status, 0, wrong);
  }
});

function kindsOf(text: string): string[] {
  return [...text.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind!).sort();
}

test("compose.yaml is valid", (t) => {
  const folder = join(root, "packaging/compose");
  const names = ["STORE_SECRET_KEY", "POSTGRES_PASSWORD", "BLOBS_SECRET"];
  const env = { PATH: process.env.PATH, ...Object.fromEntries(names.map((name) => [name, "0".repeat(64)])) };
  const options = { cwd: folder, encoding: "utf8" } as const;
  if (spawnSync("docker", ["compose", "version"], options).status !== 0)
    return t.skip("docker compose is not installed");
  const { status, stdout, stderr } = spawnSync("docker", ["compose", "config"], { ...options, env });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /target: 9001/);
  assert.notEqual(
    spawnSync("docker", ["compose", "config"], { ...options, env: { PATH: env.PATH } }).status,
    0,
  );
});
