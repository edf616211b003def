// The container file, the systemd service and the package: their settings, and that the files they
// reference exist.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { root } from "./cli/store.ts";

const read = (name: string) => readFileSync(join(root, name), "utf8");

test("the container does not run as root, and the files that the Dockerfile copies exist and are not ignored", () => {
  const text = read("packaging/Dockerfile");
  const last = text.slice(text.lastIndexOf("\nFROM "));
  assert.match(last, /^USER node$/m);
  assert.match(last, /^EXPOSE 8787 9000 9001 9002$/m);
  assert.match(last, /^ENTRYPOINT \["store"\]$/m);
  const ignored = read(".dockerignore").split("\n");
  const copied = [...text.matchAll(/^COPY (?!--from)(.*)$/gm)].flatMap(([, names]) =>
    names!.split(" ").slice(0, -1),
  );
  assert.ok(copied.length > 3);
  for (const name of copied) {
    assert.ok(existsSync(join(root, name)), name);
    const isLetIn = ignored.some((line) => `${name}/`.startsWith(`${line.slice(1)}/`));
    assert.ok(isLetIn, `${name} is let in`);
  }
});

/** Starts a server that responds with these statuses in turn, then repeats the last one. */
async function answering(t: TestContext, ...statuses: number[]): Promise<number> {
  const server = createServer((request, response) => {
    const status = request.url === "/readyz" ? (statuses.length > 1 ? statuses.shift() : statuses[0]) : 404;
    response.writeHead(status!).end("words\n");
  });
  t.after(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

async function exitCode(command: readonly string[]): Promise<number | null> {
  const env = { PATH: process.env.PATH };
  const child = spawn(command[0]!, command.slice(1), { env, stdio: "ignore", timeout: 50_000 });
  const [code] = (await once(child, "exit")) as [number | null];
  return code;
}

test("the container is healthy only while /readyz returns 200", async (t) => {
  const text = read("packaging/Dockerfile").replaceAll("\\\n", "");
  const [, list = "[]"] = /^HEALTHCHECK .*?CMD (\[.*\])$/m.exec(text) ?? [];
  const command = JSON.parse(list) as string[];
  assert.ok(command.some((part) => part.includes("http://127.0.0.1:9001/readyz")));
  const asked = (port: number) => command.map((part) => part.replace("127.0.0.1:9001", `127.0.0.1:${port}`));
  assert.equal(await exitCode(asked(await answering(t, 200))), 0);
  for (const status of [204, 400, 403, 500, 503]) {
    assert.equal(await exitCode(asked(await answering(t, status))), 1, String(status));
  }
  assert.equal(await exitCode(asked(1)), 1, "nothing listens");
});

test("the systemd service is started when the server notifies systemd", () => {
  const lines = read("packaging/store.service").split("\n");
  for (const line of ["Type=notify", "NotifyAccess=all"]) assert.ok(lines.includes(line), line);
  assert.ok(!lines.some((line) => line.startsWith("WatchdogSec=")), "the server sends no watchdog messages");
});

test("the systemd service finds store in every directory where npm installs it", () => {
  const unit = read("packaging/store.service");
  const [, path = ""] = /^Environment=PATH=(.*)$/m.exec(unit) ?? [];
  for (const folder of ["/usr/local/bin", "/usr/bin"]) assert.ok(path.split(":").includes(folder), folder);
  assert.match(unit, /^ExecStartPre=\/usr\/bin\/env store --version$/m);
  const programs = [...unit.matchAll(/^Exec\w+=-?(\S+)/gm)].map(([, program]) => program);
  assert.deepEqual([...new Set(programs)], ["/usr/bin/env"]);
});

test("the systemd service drops the privileges that it does not need", () => {
  const lines = read("packaging/store.service").split("\n");
  const hard = [
    "NoNewPrivileges=yes",
    "ProtectSystem=strict",
    "ProtectHome=yes",
    "CapabilityBoundingSet=",
    "UMask=0077",
  ];
  for (const line of hard) assert.ok(lines.includes(line), line);
  assert.ok(lines.includes("ExecStart=/usr/bin/env store serve $STORE_OPTIONS"));
  assert.ok(lines.includes("Environment=STORE_DATA=/var/lib/store"));
});

test("systemd-analyze accepts the systemd service and rates it as secure", (t) => {
  const version = spawnSync("systemd-analyze", ["--version"], { encoding: "utf8" });
  if (version.error !== undefined) {
    return t.skip("systemd-analyze is not on this machine: the unit was not looked at");
  }
  const directory = mkdtempSync(join(tmpdir(), "store-unit-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "store.service");
  writeFileSync(file, read("packaging/store.service"));
  const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
  assert.deepEqual([status, stdout, stderr], [0, "", ""]);
  // Earlier versions of systemd cannot check a unit that is not installed.
  if (Number(/^systemd (\d+)/.exec(version.stdout)?.[1]) < 250) return;
  const secure = spawnSync("systemd-analyze", ["security", "--offline=yes", "--threshold=20", file], {
    encoding: "utf8",
  });
  assert.equal(secure.status, 0, secure.stdout);
});

test("the package contains only files needed at run time, without sources and tests", () => {
  const { files, bin } = JSON.parse(read("package.json")) as { files: string[]; bin: { store: string } };
  assert.deepEqual(files, [
    "dist",
    "src/console/page",
    "packaging/store.service",
    "packaging/grafana-dashboard.json",
    "packaging/store.1",
    "docs/*.md",
    "docs/tutorial",
    "docs/how-to",
    "docs/reference",
    "docs/explanation",
    "docs/figures",
    "README.md",
    "LICENSE",
    "SECURITY.md",
    "CHANGELOG.md",
  ]);
  assert.equal(bin.store, "dist/cli/main.js");
});

test("the scripts of the Debian package are valid, and the data directory is never removed", () => {
  for (const name of ["build", "store", "postinst", "prerm", "postrm"]) {
    const file = join(root, "packaging/deb", name);
    const shell = name === "build" ? "bash" : "sh";
    assert.equal(spawnSync(shell, ["-n", file]).status, 0, name);
    assert.doesNotMatch(read(`packaging/deb/${name}`), /^(?!\s*(#|echo)).*\brm\b.*\/var\/lib\/store/m, name);
  }
  assert.match(read("packaging/deb/postinst"), /install -d -o store -g store -m 0700 \/var\/lib\/store/);
});

test("compose.yaml builds the image, waits for healthy services and has no secret", () => {
  const text = read("packaging/compose/compose.yaml");
  assert.match(text, /dockerfile: packaging\/Dockerfile/);
  const named = [...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name!);
  const example = read("packaging/compose/.env.example");
  const offered = [...example.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]);
  assert.deepEqual(offered.map(([name]) => name).sort(), [...new Set(named)].sort());
  assert.ok(offered.every(([, value]) => value === ""));
  for (const port of ["9000:9000", "127.0.0.1:9001:9001", "9002:9002"])
    assert.ok(text.includes(`"${port}"`), port);
});

test("the Helm chart has the version of the package, and probes that ask for readiness", () => {
  const { version } = JSON.parse(read("package.json")) as { version: string };
  assert.match(read("packaging/helm/store/Chart.yaml"), new RegExp(`^appVersion: "${version}"$`, "m"));
  const pod = read("packaging/helm/store/templates/_helpers.tpl");
  assert.match(pod, /readinessProbe:\n\s+httpGet: \{ path: \/readyz, port: console \}/);
  for (const line of ["runAsNonRoot: true", "readOnlyRootFilesystem: true"])
    assert.ok(pod.includes(line), line);
});
