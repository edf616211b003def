// Builds the image with buildah, which needs no daemon, and runs a server in a container of it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { root } from "../../cli/store.ts";
import { makeDebian, whyNoDebian } from "../debian.ts";
import { addNode, buildah, commitFolder } from "../image.ts";

const published = "node:22-bookworm-slim";
const local = "localhost/store-test-node";
const image = "localhost/store-test";

test("the image builds without a daemon, and a container of it serves", (t) => {
  if (spawnSync("buildah", ["--version"]).error !== undefined) return t.skip("buildah is not installed");
  const reason = whyNoDebian();
  if (reason !== undefined) return t.skip(reason);
  let base = published;
  if (buildah("pull", published).status !== 0) {
    // Registries of images are not reachable everywhere: a Debian with this Node takes their part.
    const debian = makeDebian("bookworm");
    if (debian === undefined) return t.skip("neither a registry nor a Debian mirror is reachable");
    t.after(() => rmSync(debian, { recursive: true, force: true }));
    addNode(debian);
    commitFolder(debian, local);
    base = local;
  }
  t.after(() => buildah("rmi", "--force", image, local));
  const options = ["--network", "host", "--format", "docker", "--build-arg", `NODE_IMAGE=${base}`];
  const built = buildah("build", ...options, "-f", "packaging/Dockerfile", "-t", image, root);
  assert.equal(built.status, 0, built.stderr);

  const { OCIv1, Docker } = JSON.parse(buildah("inspect", image).stdout) as {
    OCIv1: { config: { User: string; ExposedPorts: Record<string, unknown>; Entrypoint: string[] } };
    Docker: { config: { Healthcheck: { Test: string[] } } };
  };
  assert.equal(OCIv1.config.User, "node");
  assert.deepEqual(Object.keys(OCIv1.config.ExposedPorts).sort(), [
    "8787/tcp",
    "9000/tcp",
    "9001/tcp",
    "9002/tcp",
  ]);
  assert.deepEqual(OCIv1.config.Entrypoint, ["store"]);
  const [kind, ...check] = Docker.config.Healthcheck.Test;
  assert.equal(kind, "CMD");
  serves(check);
});

/** Runs the server and its health check in one container, in a network of its own. */
function serves(check: readonly string[]): void {
  const container = buildah("from", image).stdout.trim();
  try {
    const healthy = check.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
    const script = [
      `set -e; test "$(id -u)" != 0`,
      `if ${healthy}; then echo "healthy without a server"; exit 1; fi`,
      "store bucket create photos",
      "store serve --host 0.0.0.0 & server=$!",
      `for second in $(seq 120); do ${healthy} && break; sleep 1; done`,
      healthy,
      "kill $server; wait $server",
    ].join("\n");
    const inside = ["buildah", "run", container, "--", "sh", "-c", script];
    const run = spawnSync("unshare", ["--net", "sh", "-c", 'ip link set lo up; exec "$@"', "sh", ...inside], {
      encoding: "utf8",
      env: { ...process.env, BUILDAH_ISOLATION: "chroot" },
    });
    assert.equal(run.status, 0, run.stdout + run.stderr);
    assert.match(run.stdout, /Console on http:\/\/.*:9001/);
  } finally {
    buildah("rm", container);
  }
}
