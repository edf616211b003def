// Checks that docs/cli.md describes every command.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { shownCatalog } from "../../src/cli/catalog.ts";
import { isGroup } from "../../src/cli/framework/command.ts";
import { root } from "../cli/store.ts";

test("docs/cli.md has a heading for every command", async () => {
  const text = await readFile(join(root, "docs", "cli.md"), "utf8");
  for (const { name, load } of shownCatalog) {
    const entry = await load();
    const words = isGroup(entry) ? entry.commands.map((command) => `${name} ${command.name}`) : [name];
    const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading!).join("\n");
    for (const word of words.filter((command) => command !== "help")) {
      const [group = "", command] = word.split(" ");
      const isTold =
        headings.includes(`store ${word}`) || new RegExp(`store ${group} .*\\b${command}\\b`).test(headings);
      assert.ok(isTold, `there is a heading for store ${word}`);
    }
  }
});
