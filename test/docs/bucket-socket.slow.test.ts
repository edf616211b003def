// Checks docs/bucket-socket.md: runs its commands, its script and its configuration in a real
// workerd, and compares its limits with the code.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { bucketListenOptions } from "../../src/capability/bucket/bucket-capability.ts";
import { maxMetadataBytes } from "../../src/capability/bucket/frame.ts";
import { outcomeOf, root, shellIn } from "../cli/store.ts";
import { temporaryDirectory } from "../support/stores.ts";
import { startWorkerd } from "../support/workerd/start-workerd.ts";
import { blocksOf } from "./page/markdown.ts";
import { curlFolder, programFolder, writeFiles } from "./page/project.ts";
import { play, stepsOf } from "./page/transcript.ts";

const page = readFileSync(join(root, "docs/bucket-socket.md"), "utf8");
const blocks = blocksOf(page);
const shownAddress = "127.0.0.1:8080";

function shown(language: string): string[] {
  return blocks.filter((block) => block.language === language).map(({ text }) => text);
}

test("the script and the configuration in docs/bucket-socket.md run in workerd and print the output shown", async (t) => {
  const directory = await temporaryDirectory(t);
  const shell = shellIn(directory);
  const [setUp = "", start, commands = ""] = shown("sh");
  assert.equal(start, "npx workerd serve config.capnp");
  const [create = [], serve = []] = setUp.split("\n").map((line) => line.split(" ").slice(1));
  await shell.store(...create);
  const server = shell.start([...serve, "--s3-port", "0", "--console-port", "0", "--json"]);
  const ended = outcomeOf(server);
  t.after(async () => {
    server.kill("SIGTERM");
    await ended;
  });
  const ready = await Promise.race([once(createInterface(server.stdout), "line"), ended]);
  assert.ok(Array.isArray(ready), JSON.stringify(ready));
  const [config = ""] = shown("capnp");
  assert.ok(config.includes(shownAddress));
  const [script = ""] = shown("js");
  await writeFiles(directory, {
    "script.js": script,
    "config.capnp": config.replace(shownAddress, "127.0.0.1:0"),
  });
  const port = await startWorkerd(t, join(directory, "config.capnp"));
  const folders = [await programFolder(t, "store"), await curlFolder(t)];
  const steps = stepsOf(commands.replaceAll(shownAddress, `127.0.0.1:${port}`));
  assert.ok(steps.length > 4);
  await play(steps, { directory, programs: folders.filter((folder) => folder !== undefined).join(":") });
});

test("the plugin in docs/bucket-socket.md binds the socket of its options, in both forms of plugins", async () => {
  const [source = ""] = shown("js plugin");
  const { plugins } = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  const plugin = plugins["store-bucket"];
  const [text = ""] = shown("jsonc");
  const [binding] = JSON.parse(text).unsafe.bindings;
  assert.equal(binding.dev.plugin.name, "store-bucket");
  const list = [{ name: binding.name, options: binding.dev.options }];
  const environment = { config: { env: { [binding.name]: binding, OTHER: { type: "plain_text" } } } };
  for (const options of [list, environment]) {
    assert.deepEqual(plugin.getBindings(options), [
      { name: "PHOTOS", r2Bucket: { name: "store-bucket:PHOTOS" } },
    ]);
    const address = `unix:${binding.dev.options.socket}`;
    assert.deepEqual(plugin.getServices({ options }), [
      { name: "store-bucket:PHOTOS", external: { address, http: {} } },
    ]);
  }
});

test("docs/bucket-socket.md lists the limits that the code enforces", () => {
  assert.ok(page.includes(`| JSON of a \`GET\` | ${bucketListenOptions.headerBytes / 1024} KiB`));
  assert.ok(page.includes(`| JSON of a \`PUT\` | ${maxMetadataBytes / 1024 / 1024} MiB |`));
});
