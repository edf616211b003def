// Checks the structure of the sources: allowed imports, folders and file lengths. ARCHITECTURE.md
// has the same table of imports; change both together.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const source = join(root, "src");

/** Allowed imports of each top-level folder of src: other folders, single files, and packages. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  model: ["node:crypto", "@node-rs/crc32"],
  async: ["model", "node:timers/promises"],
  metrics: ["model"],
  audit: ["model", "engine/records.ts", "node:crypto", "node:timers/promises"],
  secrets: ["model", "engine/master-keys.ts", "engine/records.ts", "node:crypto", "node:fs", "node:path"],
  access: ["model", "secrets", "engine/records.ts", "node:crypto", "node:net", "node:zlib"],
  http: [
    ...["model", "node:crypto", "node:dns/promises", "node:fs", "node:http", "node:https", "node:net"],
    ...["node:os", "node:stream", "node:timers/promises", "node:tls", "node:util", "node:v8", "node:vm"],
  ],
  oidc: ["http", "model", "jose"],
  "s3-client": ["http", "model", "node:crypto", "node:http", "node:https", "node:timers/promises"],
  child: ["async", "node:*"],
  engine: ["metrics", "model", "node:crypto", "node:os", "node:timers/promises", "node:worker_threads"],
  copy: ["async", "engine", "model", "node:crypto"],
  memory: ["model", ...ports()],
  repository: [
    ...["engine/encryption/key-sealing.ts", "engine/encryption/sealed-blocks.ts"],
    ...["engine/encryption/sealed-reader.ts", "http", "model", "s3-client"],
    ...["node:crypto", "node:os", "node:util"],
  ],
  local: [
    ...["async", "audit", "metrics", "model", "repository", "secrets", ...ports()],
    ...["@photostructure/sqlite", "@node-rs/crc32", "node:*"],
  ],
  cluster: ["async", "http", "metrics", "model", "s3-client", ...ports(), "pg", "@node-rs/crc32", "node:*"],
  binding: [
    "access",
    "http",
    "model",
    "credential-types.ts",
    "types.ts",
    "kv-types.ts",
    ...engineTypes(),
    "node:stream",
    "node:util",
  ],
  s3: [
    "access",
    "audit",
    "child",
    "events/rule-check.ts",
    "events/rules.ts",
    "http",
    "metrics",
    "model",
    "oidc",
    "open.ts",
    "secrets",
    ...engineTypes(),
    "node:*",
  ],
  servers: ["model", "engine/records.ts", "node:crypto", "node:os"],
  public: ["http", "metrics", "model", ...engineTypes()],
  capability: ["http", "metrics", "model", ...engineTypes(), "node:*"],
  events: ["http", "model", "secrets", "servers", ...engineTypes(), "node:*"],
  script: [
    ...["async", "binding", "capability", "child", "http", "metrics", "model", "script-types.ts", "open.ts"],
    ...[...engineTypes(), "esbuild", "smol-toml", "jsonc-parser", "node:*"],
  ],
  console: ["audit", "http", "metrics", "model", "oidc", ...engineTypes(), "node:*"],
  prove: ["engine", "local", "model", "open.ts", "types.ts", "@photostructure/sqlite", "node:*"],
  cli: [
    ...[
      "access",
      "async",
      "audit",
      "binding",
      "capability",
      "console",
      "engine",
      "events",
      "http",
      "maintenance.ts",
      "metrics",
    ],
    ...[
      "model",
      "oidc",
      "open.ts",
      "prove",
      "public",
      "repository",
      "s3",
      "s3-client",
      "script",
      "secrets",
      "servers",
      "types.ts",
      "@photostructure/sqlite",
      "node:*",
    ],
  ],
  "types.ts": ["credential-types.ts"],
  "credential-types.ts": [],
  "script-types.ts": [],
  "kv-types.ts": [],
  "open.ts": [
    ...[
      "audit",
      "binding",
      "cluster",
      "copy",
      "engine",
      "kv-types.ts",
      "local",
      "memory",
      "metrics",
      "model",
      "secrets",
    ],
    ...["types.ts", "node:crypto"],
  ],
  "maintenance.ts": ["cluster", "copy", "local", "model", "open.ts", "repository"],
  "index.ts": [
    "access",
    "binding",
    "credential-types.ts",
    "engine/engine.ts",
    "engine/maintenance/reports.ts",
    "model",
    "types.ts",
    "kv-types.ts",
    "script-types.ts",
    "open.ts",
  ],
};

/** Sub-folders in order: each imports only sub-folders before it and files of its parent folder. */
const folders: Readonly<Record<string, readonly string[]>> = {
  access: ["keys", "policy", "temporary"],
  cli: ["framework", "terminal", "store", "settings", "init", "transfer", "serve", "health", "commands"],
  cluster: ["postgres", "schema", "backend", "index", "bytes"],
  console: ["auth", "api"],
  engine: ["codec", "encryption", "bytes", "quotas", "versions", "uploads", "key-value", "maintenance"],
  http: ["tls", "wire", "server", "upgrade", "outbound"],
  local: ["disk", "recovery", "rows", "index", "commit", "integrity", "bytes", "backup", "offsite"],
  prove: ["kill", "full-disk", "rot", "consistency"],
  s3: ["auth", "body", "headers", "operations", "sts", "server"],
  script: ["config", "globals", "assets", "host", "sandbox", "supervisor"],
};

/** Modules that export what Node has as globals too. Every folder may import them. */
const globalModules = [
  ...["node:buffer", "node:console", "node:perf_hooks", "node:process", "node:stream/web", "node:timers"],
  ...["node:timers/promises", "node:url", "node:util", "node:worker_threads"],
];

const maxFilesInFolder = 20;
const maxFilesInWideFolder = 30;
const wideFolders = ["model", "cli/commands"];

/** Folders of test/ without a counterpart in src/: suites of the whole product, and helpers. */
const testFolders = [
  ...["attack", "cluster-run", "console-run", "contracts", "docs", "interop", "package-run", "proof"],
  ...["packaging-run", "support", "wpt", "local/agents"],
];

/** Engine files of which front ends may import types; a test below refuses other imports. */
function engineTypes(): string[] {
  return [
    ...["engine/engine.ts", "engine/key-value/key-value.ts", "engine/records.ts"],
    ...["engine/uploads/upload-operations.ts", "engine/versions/versions.ts"],
    ...["engine/maintenance/reports.ts", "engine/quotas/quotas.ts"],
  ];
}

function ports(): string[] {
  return [
    ...["engine/records.ts", "engine/outbox.ts", "engine/blobs.ts"],
    ...["engine/codec/part-list-cache.ts", "engine/codec/parts-body.ts"],
    ...["engine/codec/record-codec.ts", "engine/codec/version-codec.ts"],
  ];
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

/** Returns the files of the console's page, which browsers load without a build step. */
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

test("every top-level folder of src imports only what the table of ARCHITECTURE.md allows", () => {
  for (const file of sourceFiles()) {
    const name = relative(source, file);
    const allowed = rooms[roomOf(name)];
    assert.ok(allowed, `src/${name} is in a room that the table does not list`);
    for (const { target } of importsOf(file)) {
      if (name.includes("/") && roomOf(target) === roomOf(name)) continue;
      if (globalModules.includes(target)) continue;
      assert.ok(isAllowed(target, allowed), `src/${name} must not import ${target}`);
    }
  }
});

test("a sub-folder of src imports only sub-folders that the order of folders lists before it", () => {
  for (const file of sourceFiles()) {
    const [room, folder, ...rest] = relative(source, file).split("/");
    const order = folders[room!];
    if (rest.length === 0 || order === undefined) continue;
    assert.ok(order.includes(folder!), `src/${room}/${folder} is missing in the order of folders`);
    for (const { target } of importsOf(file)) {
      const [toRoom, toFolder, ...toRest] = target.split("/");
      if (toRoom !== room || toRest.length === 0) continue;
      const isBefore = order.indexOf(toFolder!) <= order.indexOf(folder!);
      assert.ok(isBefore, `${relative(source, file)} imports ${target}`);
    }
  }
});

test("sibling folders of src do not import each other in a cycle", () => {
  const imports = new Map<string, Set<string>>();
  for (const file of sourceFiles()) {
    const from = relative(source, file).split("/");
    for (const { target } of importsOf(file)) {
      const to = target.split("/");
      let depth = 0;
      while (from[depth] === to[depth] && depth < from.length - 1 && depth < to.length - 1) depth++;
      if (depth === from.length - 1 || depth === to.length - 1 || !rooms[to[0]!]) continue;
      const name = from.slice(0, depth + 1).join("/");
      imports.set(name, (imports.get(name) ?? new Set()).add(to.slice(0, depth + 1).join("/")));
    }
  }
  for (const start of imports.keys()) {
    const reached = new Set<string>();
    const open = [...imports.get(start)!];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (reached.has(next)) continue;
      reached.add(next);
      open.push(...(imports.get(next) ?? []));
    }
    assert.ok(!reached.has(start), `src/${start} imports itself by way of ${[...reached].join(", ")}`);
  }
});

test("no folder of src has more files than the limit", () => {
  const counts = new Map<string, number>();
  for (const file of [...sourceFiles(), ...pageFiles()]) {
    const folder = relative(source, dirname(file));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  for (const [folder, count] of counts) {
    const max = wideFolders.includes(folder) ? maxFilesInWideFolder : maxFilesInFolder;
    assert.ok(count <= max, `src/${folder} has ${count} files; at most ${max}`);
  }
});

test("test folders mirror folders of src, and none has more files than the limit", () => {
  const counts = new Map<string, number>();
  for (const name of readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts") || !name.includes("/")) continue;
    counts.set(dirname(name), (counts.get(dirname(name)) ?? 0) + 1);
  }
  for (const [folder, count] of counts) {
    assert.ok(count <= maxFilesInFolder, `test/${folder} has ${count} files; at most ${maxFilesInFolder}`);
    const hasCounterpart = existsSync(join(source, folder));
    const isKnown = testFolders.some((known) => `${folder}/`.startsWith(`${known}/`));
    assert.ok(hasCounterpart || isKnown, `test/${folder} has no counterpart in src/`);
  }
});

test("in src, only index.ts re-exports names of other files", () => {
  for (const file of sourceFiles()) {
    const name = relative(source, file);
    if (name === "index.ts") continue;
    assert.doesNotMatch(readFileSync(file, "utf8"), /^export (type )?[{*][^;]*from "/m, `src/${name}`);
  }
});

test("front ends import only types of the engine, and adapters are imported dynamically", () => {
  for (const file of sourceFiles()) {
    const name = relative(source, file);
    for (const { target, kind } of importsOf(file)) {
      const room = roomOf(target);
      const isFace = ["binding", "capability", "s3", "script", "console", "events", "public"].includes(
        roomOf(name),
      );
      if (isFace && room === "engine") assert.equal(kind, "type", `src/${name} imports ${target}`);
      const isAdapter = ["memory", "local", "cluster"].includes(room);
      if (isAdapter && roomOf(name) !== room) assert.equal(kind, "dynamic", `src/${name} imports ${target}`);
    }
  }
});

test("only src/http and src/s3-client import node:http or node:https", () => {
  for (const file of sourceFiles()) {
    const name = relative(source, file);
    const isHttp = importsOf(file).some(({ target }) => /^node:https?$/.test(target));
    assert.ok(
      !isHttp || ["http", "s3-client"].includes(roomOf(name)),
      `src/${name} must not import node:http`,
    );
  }
});

test("the console's page imports only its own files and never inserts text as HTML", () => {
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

test("no source file has more than 300 lines or a vague name such as utils", () => {
  for (const file of [...sourceFiles(), ...pageFiles()]) {
    const name = relative(source, file);
    const lines = readFileSync(file, "utf8").split("\n").length;
    assert.ok(lines <= 300, `src/${name} has ${lines} lines`);
    assert.doesNotMatch(basename(name), /\b(utils?|helpers?|common|manager|base|impl)\b/i);
  }
});

test("every source file begins with a comment", () => {
  for (const file of [...sourceFiles(), ...pageFiles()]) {
    assert.match(
      readFileSync(file, "utf8"),
      /^(#!.*\n)?\/\/ \S/,
      `src/${relative(source, file)} begins with a comment`,
    );
  }
});

test("only the command line reads environment variables and arguments", () => {
  for (const file of sourceFiles()) {
    const name = relative(source, file);
    if (roomOf(name) === "cli") continue;
    // Ignore comments, which may name process.env and process.argv.
    const code = readFileSync(file, "utf8").replace(/^\s*(\/\/|\*|\/\*\*).*$/gm, "");
    assert.doesNotMatch(code, /process\.(env|argv)/, `src/${name}`);
  }
});
