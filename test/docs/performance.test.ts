// Checks docs/performance.md: its commands and links are valid, and the pages with results match
// the saved measurements.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { markdownOf } from "../../bench/draw/markdown.ts";
import { parseOptions } from "../../bench/options.ts";
import { footerOf, type Saved } from "../../bench/saved.ts";
import { number } from "../../bench/table.ts";
import { root } from "../cli/store.ts";
import { anchorsOf, blocksOf, linksOf } from "./page/markdown.ts";

const page = textOf("docs/performance.md");

test("every command in docs/performance.md is accepted by the benchmark", () => {
  const commands = blocksOf(page).flatMap(({ text }) => text.split("\n"));
  assert.notEqual(commands.length, 0);
  const { scripts } = JSON.parse(textOf("package.json")) as { scripts: Record<string, string> };
  assert.ok(scripts.bench);
  const sections = readdirSync(join(root, "bench/sections")).map((file) => {
    return { name: file.replace(/\.ts$/, ""), description: "" };
  });
  for (const command of commands) {
    const [npm, run, script, dashes, ...args] = command.split(" ");
    assert.deepEqual([npm, run, script, dashes], ["npm", "run", "bench", "--"], command);
    const options = parseOptions(args, sections);
    assert.equal(options === undefined, args.includes("--help"), command);
  }
});

test("every link in docs/performance.md leads to an existing file and heading", () => {
  for (const link of linksOf(page)) {
    const [path = "", anchor] = link.split("#");
    assert.ok(existsSync(join(root, "docs", path)), link);
    if (anchor !== undefined) assert.ok(anchorsOf(textOf(`docs/${path}`)).includes(anchor), link);
  }
});

const measured = readdirSync(join(root, "docs/figures")).filter((file) => file.endsWith(".json"));

for (const name of measured.map((file) => file.slice(0, -".json".length))) {
  test(`the page and the chart of the benchmark ${name} show its saved measurements and its command`, () => {
    const saved = JSON.parse(textOf(`docs/figures/${name}.json`)) as Saved;
    const footer = footerOf(saved);
    assert.equal(textOf(`docs/figures/${name}.md`), markdownOf(saved, footer));
    const picture = textOf(`docs/figures/${name}.svg`);
    for (const line of footer) assert.ok(picture.includes(`>${line}<`), line);
    if (name !== "peers") return;
    for (const { limits, unit } of saved.rows) {
      for (const { bar, figure } of limits) {
        if (bar !== undefined) assert.ok(picture.includes(`>${number(figure.median)} ${unit} `));
      }
    }
  });
}

function textOf(file: string): string {
  return readFileSync(join(root, file), "utf8");
}
