// The files that bring Store onto a machine: what they promise of themselves, and that everything they name is there.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "./cli/store.ts";

const read = (name: string) => readFileSync(join(root, name), "utf8");

test("the container runs without root, tells its health, and is built of files that are there and let in", () => {
  const text = read("packaging/Dockerfile");
  const last = text.slice(text.lastIndexOf("\nFROM "));
  assert.match(last, /^USER node$/m);
  assert.match(last, /^HEALTHCHECK /m);
  assert.match(last, /^ENTRYPOINT \["store"\]$/m);
  const ignored = read(".dockerignore").split("\n");
  const copied = [...text.matchAll(/^COPY (?!--from)(.*)$/gm)].flatMap(([, names]) =>
    names!.split(" ").slice(0, -1),
  );
  assert.ok(copied.length > 3);
  for (const name of copied) {
    assert.ok(existsSync(join(root, name)), name);
    assert.ok(ignored.includes(`!${name}`), `${name} is let in`);
  }
});

test("the service of systemd has nothing it does not need", () => {
  const lines = read("packaging/store.service").split("\n");
  const hard = [
    "NoNewPrivileges=yes",
    "ProtectSystem=strict",
    "ProtectHome=yes",
    "CapabilityBoundingSet=",
    "UMask=0077",
  ];
  for (const line of hard) assert.ok(lines.includes(line), line);
  assert.ok(lines.some((line) => /^ExecStart=.* serve --data \/var\/lib\/store$/.test(line)));
});

test("the service of systemd is one that systemd understands", (t) => {
  if (spawnSync("systemd-analyze", ["--version"]).error !== undefined) {
    return t.skip("systemd-analyze is not on this machine: the unit was not looked at");
  }
  const directory = mkdtempSync(join(tmpdir(), "store-unit-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "store.service");
  // The program it names is not installed here; another one stands for it.
  writeFileSync(file, read("packaging/store.service").replace("/usr/local/bin/store", process.execPath));
  const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
  assert.deepEqual([status, stdout, stderr], [0, "", ""]);
});

test("what is packed is what runs, here or in a browser: no sources, no tests", () => {
  const { files, bin } = JSON.parse(read("package.json")) as { files: string[]; bin: { store: string } };
  assert.deepEqual(files, [
    "dist",
    "src/console/page",
    "packaging/store.service",
    "packaging/grafana-dashboard.json",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
  ]);
  assert.equal(bin.store, "dist/cli/main.js");
});
