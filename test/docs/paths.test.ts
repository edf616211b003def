// Checks that links and source file names in all pages lead to existing files.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { root } from "../cli/store.ts";
import { anchorsOf, linksOf } from "./page/markdown.ts";

const pages = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CHANGELOG.md",
  ...markdownIn("docs"),
  ...markdownIn("src"),
];

test("every link in the documentation leads to an existing file and heading", () => {
  for (const page of pages) {
    for (const link of linksOf(textOf(page))) {
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? page : join(dirname(page), path);
      assert.ok(existsSync(join(root, target)), `${page} links to ${link}`);
      if (anchor !== undefined) assert.ok(anchorsOf(textOf(target)).includes(anchor), `${page}: ${link}`);
    }
  }
});

test("every source file named in the documentation exists", () => {
  for (const page of pages.filter((name) => name !== "CHANGELOG.md")) {
    for (const [, path] of textOf(page).matchAll(/`([\w./-]+\/[\w.-]+\.(?:ts|js))`/g)) {
      const bases = [dirname(page), "", "src"];
      assert.ok(
        bases.some((base) => existsSync(join(root, base, path!))),
        `${page} names ${path}`,
      );
    }
  }
});

function markdownIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));
}

function textOf(page: string): string {
  return readFileSync(join(root, page), "utf8");
}
