// Checks docs/assets.md: runs its configurations, scripts, rule files and commands.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseHeaders } from "../../src/script/assets/rules/parse-headers.ts";
import { parseRedirects } from "../../src/script/assets/rules/parse-redirects.ts";
import { knownKeys } from "../../src/script/config/syntax/fields.ts";
import { root } from "../cli/store.ts";
import { temporaryDirectory } from "../support/stores.ts";
import { isConfig, pairsOf, readShown } from "./page/config-page.ts";
import { anchorsOf, type Block, blocksOf, linksOf, tableUnder } from "./page/markdown.ts";
import { curlFolder, withDev, writeFiles } from "./page/project.ts";
import { play, stepsOf } from "./page/transcript.ts";

const page = readFileSync(join(root, "docs/assets.md"), "utf8");
const blocks = blocksOf(page);
const shownUrl = "http://127.0.0.1:8787";

function shown(language: string): string {
  const found = blocks.filter((block) => block.language === language);
  assert.equal(found.length, 1, language);
  return found[0]!.text;
}

/** Runs the commands of a block against `store dev` in the folder. */
async function playIn(t: TestContext, directory: string, commands: string): Promise<void> {
  const programs = await curlFolder(t);
  await withDev(directory, [], async (url) => {
    const steps = stepsOf(commands).map(({ command, prints }) => ({
      command: command.replaceAll(shownUrl, url),
      prints: prints.replaceAll(shownUrl, url),
    }));
    await play(steps, { directory, programs });
  });
}

test("every configuration in docs/assets.md is valid, and its TOML and JSON forms are equivalent", async (t) => {
  const folder = await temporaryDirectory(t);
  await writeFiles(folder, { "public/index.html": "" });
  const toml = (block: Block): Block => ({ ...block, language: block.language.replace(/^toml .*/, "toml") });
  const configs = blocks.map(toml).filter(isConfig);
  for (const block of configs) await readShown(folder, block);
  const pairs = pairsOf(configs);
  assert.notEqual(pairs.length, 0);
  for (const [written, json] of pairs) {
    const expected = { ...(await readShown(folder, written)), file: "" };
    assert.deepEqual({ ...(await readShown(folder, json)), file: "" }, expected, `line ${json.line}`);
  }
});

test("docs/assets.md lists every key of the assets configuration", () => {
  const names = tableUnder(page, "Keys").map(([first]) => first!.replaceAll("`", ""));
  assert.deepEqual(names, knownKeys.assets);
});

test("the commands for the site in docs/assets.md print the output shown", async (t) => {
  const directory = await temporaryDirectory(t);
  await writeFiles(directory, { "store.toml": shown("toml site"), "public/x.txt": "" });
  await playIn(t, directory, shown("sh site"));
});

test("the commands for the script in docs/assets.md print the output shown", async (t) => {
  const directory = await temporaryDirectory(t);
  const script = blocks.find(({ language }) => language === "ts")!.text;
  await writeFiles(directory, {
    "store.toml": shown("toml binding"),
    "src/index.ts": script,
    "public/x.txt": "",
  });
  await playIn(t, directory, shown("sh binding"));
});

test("the rule files in docs/assets.md are valid and have the effect shown", async (t) => {
  assert.deepEqual(parseHeaders(shown("text _headers")).faults, []);
  assert.deepEqual(parseRedirects(shown("text _redirects"), "auto-trailing-slash").faults, []);
  const directory = await temporaryDirectory(t);
  await writeFiles(directory, {
    "store.toml": shown("toml site"),
    "public/app/index.html": "The app\n",
    "public/build/app.js": "",
    "public/build/app.js.map": "",
    "public/_headers": shown("text _headers"),
    "public/_redirects": shown("text _redirects"),
    "public/.assetsignore": shown("text .assetsignore"),
  });
  await playIn(t, directory, shown("sh rules"));
});

test("every link in docs/assets.md leads to an existing folder and heading", () => {
  for (const link of linksOf(page)) {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? "docs/assets.md" : join("docs", path);
    assert.ok(existsSync(join(root, dirname(target))), link);
    if (anchor !== undefined)
      assert.ok(anchorsOf(readFileSync(join(root, target), "utf8")).includes(anchor), link);
  }
});
