// Keeps the house in order: which room may import which, and how long a file may grow. The table is the
// one of ARCHITECTURE.md; change both together.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const source = join(root, "src");

/** What the files of a room may import: rooms, single files of rooms, and packages by name. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  model: ["model", "node:crypto", "@node-rs/crc32"],
  metrics: ["metrics", "model"],
  http: [
    "http",
    "model",
    "node:http",
    "node:https",
    "node:net",
    "node:tls",
    "node:crypto",
    "node:dns/promises",
    "node:fs",
    "node:stream",
    "node:timers/promises",
    "node:util",
    "node:v8",
    "node:vm",
  ],
  child: ["child", "node:*"],
  engine: ["engine", "metrics", "model", "node:crypto", "node:os", "node:worker_threads"],
  memory: ["memory", "model", ...ports()],
  local: ["local", "metrics", "model", ...ports(), "@photostructure/sqlite", "@node-rs/crc32", "node:*"],
  cluster: ["cluster", "http", "metrics", "model", ...ports(), "pg", "@node-rs/crc32", "node:*"],
  binding: ["binding", "http", "model", "types.ts", "kv-types.ts", ...faces(), "node:stream", "node:util"],
  s3: ["s3", "child", "http", "metrics", "model", "open.ts", ...faces(), "node:*"],
  public: ["public", "http", "metrics", "model", ...faces()],
  events: ["events", "http", "model", ...faces(), "node:*"],
  script: [
    ...["script", "binding", "child", "http", "metrics", "model", "types.ts", "open.ts", ...faces()],
    ...["esbuild", "smol-toml", "jsonc-parser", "node:*"],
  ],
  console: ["console", "http", "metrics", "model", ...faces(), "node:*"],
  cli: [
    "cli",
    "script",
    "s3",
    "console",
    "binding",
    "events",
    "public",
    "engine",
    "http",
    "metrics",
    "model",
    "types.ts",
    "open.ts",
    "@photostructure/sqlite",
    "node:*",
  ],
  "types.ts": [],
  "script-types.ts": ["types.ts"],
  "kv-types.ts": [],
  "open.ts": [
    "node:crypto",
    "binding",
    "metrics",
    "model",
    "types.ts",
    "kv-types.ts",
    "engine",
    "memory",
    "local",
    "cluster",
  ],
  "index.ts": ["binding", "model", "types.ts", "kv-types.ts", "script-types.ts", "open.ts"],
};

/** What a face knows of the engine is types alone; a rule below keeps that. */
function faces(): string[] {
  return ["engine/engine.ts", "engine/key-value.ts", "engine/records.ts"];
}

function ports(): string[] {
  return ["engine/records.ts", "engine/blobs.ts", "engine/encoding.ts"];
}

interface Import {
  readonly target: string;
  readonly kind: "type" | "value" | "dynamic";
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, "utf8");
  const found: Import[] = [];
  for (const [, kind, , from] of text.matchAll(/^(?:import|export)( type)?\b([^;"']*?)from "([^"]+)";/gms)) {
    found.push({ target: resolved(file, from!), kind: kind === undefined ? "value" : "type" });
  }
  for (const [, from] of text.matchAll(/\bimport\("([^"]+)"\)/g)) {
    found.push({ target: resolved(file, from!), kind: "dynamic" });
  }
  return found;
}

function resolved(file: string, from: string): string {
  return from.startsWith(".") ? relative(source, join(dirname(file), from)) : from;
}

function sourceFiles(): string[] {
  return readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(source, name));
}

/** The console's page, which a browser runs as it is. */
function pageFiles(): string[] {
  return readdirSync(join(source, "console/page"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".js"))
    .map((name) => join(source, "console/page", name));
}

function roomOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.indexOf("/")) : path;
}

function isAllowed(target: string, allowed: readonly string[]): boolean {
  return allowed.some(
    (rule) =>
      rule === target ||
      rule === roomOf(target) ||
      (rule.endsWith("*") && target.startsWith(rule.slice(0, -1))),
  );
}

test("every room imports only what the table of ARCHITECTURE.md allows", () => {
  for (const file of sourceFiles()) {
    const name = relative(source, file);
    const allowed = rooms[roomOf(name)];
    assert.ok(allowed, `src/${name} stands in a room that the table does not know`);
    for (const { target } of importsOf(file)) {
      assert.ok(isAllowed(target, allowed), `src/${name} must not import ${target}`);
    }
  }
});

test("a face knows the engine by its types alone, and adapters are loaded only when they are opened", () => {
  for (const file of sourceFiles()) {
    const name = relative(source, file);
    for (const { target, kind } of importsOf(file)) {
      const room = roomOf(target);
      const isFace = ["binding", "s3", "script", "console", "events", "public"].includes(roomOf(name));
      if (isFace && room === "engine") assert.equal(kind, "type", `src/${name} imports ${target}`);
      const isAdapter = ["memory", "local", "cluster"].includes(room);
      if (isAdapter && roomOf(name) !== room) assert.equal(kind, "dynamic", `src/${name} imports ${target}`);
    }
  }
});

test("HTTP itself is known in one room", () => {
  for (const file of sourceFiles()) {
    const name = relative(source, file);
    const isHttp = importsOf(file).some(({ target }) => /^node:https?$/.test(target));
    assert.ok(!isHttp || roomOf(name) === "http", `src/${name} must not import node:http`);
  }
});

test("the console's page imports nothing but its own files, and puts no text in as HTML", () => {
  for (const file of pageFiles()) {
    const name = relative(source, file);
    for (const { target } of importsOf(file)) {
      assert.ok(target.startsWith("console/page/"), `src/${name} must not import ${target}`);
    }
    assert.doesNotMatch(
      readFileSync(file, "utf8"),
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function/,
      `src/${name}`,
    );
  }
});

test("no file outgrows 300 lines, and none is named after nothing", () => {
  for (const file of [...sourceFiles(), ...pageFiles()]) {
    const name = relative(source, file);
    const lines = readFileSync(file, "utf8").split("\n").length;
    assert.ok(lines <= 300, `src/${name} has ${lines} lines`);
    assert.doesNotMatch(basename(name), /\b(utils?|helpers?|common|manager|base|impl)\b/i);
  }
});

test("every file begins with words on what it answers for", () => {
  for (const file of [...sourceFiles(), ...pageFiles()]) {
    assert.match(
      readFileSync(file, "utf8"),
      /^(#!.*\n)?\/\/ \S/,
      `src/${relative(source, file)} begins with a comment`,
    );
  }
});

test("nothing outside the command line reads the environment", () => {
  for (const file of sourceFiles()) {
    const name = relative(source, file);
    if (roomOf(name) === "cli") continue;
    assert.doesNotMatch(readFileSync(file, "utf8"), /process\.(env|argv)/, `src/${name}`);
  }
});
