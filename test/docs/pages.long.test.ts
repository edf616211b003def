// Checks the documentation for script authors: runs its code and commands, parses its
// configurations, and compares its tables with the code.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { compatibilityFlags } from "../../src/binding/compatibility.ts";
import type { BucketSettings } from "../../src/model/bucket.ts";
import { reasonTable } from "../../src/model/errors.ts";
import { limits } from "../../src/model/limits.ts";
import { openEngine } from "../../src/open.ts";
import { runtimeFlags } from "../../src/script/config/runtime-flags.ts";
import { knownKeys } from "../../src/script/config/syntax/fields.ts";
import { root, shellIn } from "../cli/store.ts";
import { temporaryDirectory } from "../support/stores.ts";
import { bucketName, programOf, scriptConfigOf, scriptOf } from "./page/code.ts";
import { isConfig, pairsOf, readShown } from "./page/config-page.ts";
import { anchorsOf, type Block, blocksOf, linksOf, tableUnder } from "./page/markdown.ts";
import { cloneFolder, curlFolder, programFolder, withDev, writeFiles } from "./page/project.ts";
import { play, type ShellOptions, type Step, stepsOf } from "./page/transcript.ts";

const binding = textOf("docs/binding.md");
const config = textOf("docs/config.md");
const examples = readdirSync(join(root, "examples"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** The URL and the start command that every page uses. */
const shownUrl = "http://127.0.0.1:8787";
const startCommand = "node ../../dist/cli/main.js dev --create-buckets";

test("every example in docs/binding.md returns the values shown, in a script with an empty bucket", async (t) => {
  const blocks = blocksIn(binding, "js").filter((block) => !isProgram(block));
  const folder = await cloneFolder(t, "blocks");
  const script = scriptOf("docs/binding.md", blocks);
  await writeFiles(folder, { "store.json": scriptConfigOf(blocks), "index.js": script });
  await createVersionedBuckets(folder, blocks);
  await withDev(folder, [], async (url) => {
    for (const [number, { heading, line }] of blocks.entries()) {
      await t.test(
        `the example in docs/binding.md:${line}, "${heading}", returns the values shown`,
        async () => {
          const headers = { "content-type": "text/plain", "x-block": String(number) };
          const response = await fetch(url, { method: "PUT", body: "Hello, world!", headers });
          assert.equal(await response.text(), "as shown");
        },
      );
    }
  });
});

/** Settings of the buckets of examples, by heading. Scripts cannot change settings. */
const settingsByHeading: Readonly<Record<string, BucketSettings>> = {
  Versions: { versioning: "on" },
  "The past": { versioning: "on" },
  Locks: { versioning: "on", objectLock: {} },
};

async function createVersionedBuckets(folder: string, blocks: readonly Block[]): Promise<void> {
  const { engine } = await openEngine(join(folder, ".store"));
  try {
    for (const [number, { heading }] of blocks.entries()) {
      const settings = settingsByHeading[heading];
      if (settings === undefined) continue;
      await engine.createBucket(bucketName(number));
      await engine.changeSettings(bucketName(number), settings);
    }
  } finally {
    await engine.close();
  }
}

test("the programs in docs/binding.md return the values shown", async (t) => {
  const programs = blocksIn(binding, "js").filter(isProgram);
  assert.notEqual(programs.length, 0);
  for (const program of programs) {
    const directory = await cloneFolder(t, "program");
    await writeFiles(directory, { "main.js": programOf("docs/binding.md", program) });
    await play([{ command: "node main.js 2>&1", prints: "" }], { directory });
  }
});

test("every complete script in docs/binding.md responds as shown to the commands below it", async (t) => {
  const scripts = blocksIn(binding, "ts");
  const commands = blocksIn(binding, "sh");
  assert.equal(commands.length, scripts.length);
  for (const [i, { heading, line, text }] of scripts.entries()) {
    await t.test(`the script in docs/binding.md:${line}, "${heading}", responds as shown`, async (t) => {
      const directory = await cloneFolder(t, "script");
      await writeFiles(directory, { "store.toml": bindsBucket, "src/index.ts": text });
      const options = { directory, programs: await curlFolder(t) };
      await withDev(directory, [], (url) => playAgainst(url, stepsOf(commands[i]!.text), options));
    });
  }
});

const bindsBucket = `
name = "script"
main = "src/index.ts"
compatibility_date = "2026-11-01"
store_buckets = [{ binding = "BUCKET", bucket_name = "script" }]
`;

test("docs/binding.md lists every error with its code and message, and every limit", () => {
  const errors = tableUnder(binding, "Errors").map(([code, reason, words]) => [
    reason,
    [Number(code), words],
  ]);
  assert.deepEqual(Object.fromEntries(errors), reasonTable);
  const shown = tableUnder(binding, "Limits").join("\n");
  const { keyBytes, customMetadataBytes, singleWriteBytes, objectBytes, partNumber, ssecKeyBytes } = limits;
  for (const number of [
    keyBytes,
    customMetadataBytes,
    singleWriteBytes,
    objectBytes,
    partNumber,
    ssecKeyBytes,
  ]) {
    assert.ok(shown.includes(number.toLocaleString("en-US")), String(number));
  }
  assert.ok(shown.includes(`${limits.uploadLifetime / 86_400_000} days`));
  assert.ok(shown.includes(`${limits.listMetadataBytes / 1024} KiB`));
});

test("every configuration in docs/config.md is valid, and its TOML and JSON forms are equivalent", async (t) => {
  const folder = await temporaryDirectory(t);
  for (const block of blocksOf(config).filter(isConfig)) await readShown(folder, block);
  const pairs = pairsOf(blocksOf(config));
  assert.notEqual(pairs.length, 0);
  for (const [toml, json] of pairs) {
    const written = { ...(await readShown(folder, toml)), file: "" };
    assert.deepEqual({ ...(await readShown(folder, json)), file: "" }, written, `line ${json.line}`);
  }
});

test("docs/config.md lists every key and every compatibility flag", () => {
  const namesUnder = (heading: string) =>
    tableUnder(config, heading).map(([first]) => /`(.*)`/.exec(first!)?.[1]);
  assert.deepEqual(namesUnder("A whole file").sort(), [...knownKeys[""]!].sort());
  assert.deepEqual(namesUnder("Buckets"), knownKeys.store_buckets);
  assert.deepEqual(namesUnder("Key-value namespaces"), knownKeys.kv_namespaces);
  assert.deepEqual(namesUnder("Services"), knownKeys.services);
  assert.deepEqual(namesUnder("Assets"), knownKeys.assets);
  assert.deepEqual(namesUnder("Compatibility"), [...compatibilityFlags, ...runtimeFlags]);
});

test("the invalid configuration in docs/config.md ends store dev with the message shown", async (t) => {
  const blocks = blocksOf(config);
  const wrong = blocks.findIndex(({ language }) => language === "toml wrong");
  const folder = await temporaryDirectory(t);
  await writeFiles(folder, { "store.toml": blocks[wrong]!.text, "src/index.ts": "" });
  const told = await shellIn(folder).fails(1, ["dev"]);
  assert.equal(told, `${blocks[wrong + 1]!.text}\n`);
});

const severalScripts = "Several scripts on one server";

test("the commands in docs/config.md print the output shown", async (t) => {
  const directory = await temporaryDirectory(t);
  await writeFiles(directory, { "store.toml": blocksOf(config)[0]!.text, "src/index.ts": "" });
  const commands = blocksIn(config, "sh").filter(({ heading }) => heading !== severalScripts);
  assert.notEqual(commands.length, 0);
  const steps = commands.flatMap(({ text }) => stepsOf(text));
  await play(steps, { directory, programs: await programFolder(t, "store") });
});

test("several scripts share a server as docs/config.md shows", async (t) => {
  const blocks = blocksOf(config).filter(({ heading }) => heading === severalScripts);
  const directory = await temporaryDirectory(t);
  const files = blocks.filter(isConfig).map(({ text }) => [/^# (.*)/.exec(text)![1]!, text] as const);
  await writeFiles(directory, Object.fromEntries(files));
  for (const [file] of files) {
    const script = `export default { fetch: () => new Response("${dirname(file)}\\n") };`;
    await writeFiles(directory, { [join(dirname(file), "index.js")]: script });
  }
  const configs = files.flatMap(([file]) => ["--config", file]);
  const steps = blocks.flatMap(({ language, text }) => (language === "sh" ? stepsOf(text) : []));
  const options = { directory, programs: await curlFolder(t) };
  await withDev(directory, configs, (url) => playAgainst(url, steps, options));
});

test("the commands in the README of every example print the output shown", { concurrency: 2 }, async (t) => {
  assert.notEqual(examples.length, 0);
  await Promise.all(
    examples.map((name) =>
      t.test(`the commands in examples/${name}/README.md print the output shown`, (t) =>
        playReadme(t, name, curlFolder),
      ),
    ),
  );
});

test("the tests' replacement for curl prints the output shown in examples/file-server/README.md", (t) =>
  playReadme(t, "file-server", (t) => programFolder(t, "curl")));

test("every link in the pages for script authors leads to an existing file and heading", () => {
  const pages = [
    "docs/binding.md",
    "docs/config.md",
    "docs/s3.md",
    "docs/cli.md",
    "README.md",
    ...examples.map((name) => `examples/${name}/README.md`),
  ];
  for (const page of pages) {
    for (const link of linksOf(textOf(page))) {
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? page : join(dirname(page), path);
      assert.ok(existsSync(join(root, target)), `${page} links to ${link}`);
      if (anchor !== undefined) assert.ok(anchorsOf(textOf(target)).includes(anchor), `${page}: ${link}`);
    }
  }
});

async function playReadme(
  t: TestContext,
  name: string,
  programs: (t: TestContext) => Promise<string | undefined>,
): Promise<void> {
  const directory = await cloneFolder(t, name);
  const isOurs = (path: string) => basename(path) !== ".store";
  await cp(join(root, "examples", name), directory, { recursive: true, filter: isOurs });
  const steps = blocksIn(textOf(`examples/${name}/README.md`), "sh").flatMap(({ text }) => stepsOf(text));
  const start = steps.findIndex(({ command }) => command === startCommand);
  const options = { directory, programs: await programs(t) };
  await play(steps.slice(0, Math.max(0, start)), options);
  const rest = steps.slice(start + 1);
  if (start === -1) await play(rest, options);
  else await withDev(directory, [], (url) => playAgainst(url, rest, options));
}

async function playAgainst(url: string, steps: readonly Step[], options: ShellOptions): Promise<void> {
  assert.notEqual(steps.length, 0);
  const moved = steps.map(({ command, prints }) => ({ command: command.replaceAll(shownUrl, url), prints }));
  await play(moved, options);
}

function blocksIn(page: string, language: string): Block[] {
  return blocksOf(page).filter((block) => block.language === language);
}

/** Whether a block is a program that runs without a server. */
function isProgram({ text }: Block): boolean {
  return /^import /m.test(text);
}

function textOf(page: string): string {
  return readFileSync(join(root, page), "utf8");
}
