// Tests configuration settings that change the bundle.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { readConfig } from "../../../src/script/config/config.ts";
import { globMatcher } from "../../../src/script/config/module-rules.ts";
import { createBundler } from "../../../src/script/supervisor/bundle.ts";
import { now, project } from "../../support/projects.ts";

test("define, alias, JSX and rules of the configuration apply to the bundle", async (t) => {
  const { write, directory } = await project(t);
  await write("src/real.ts", 'export const where = "real";');
  await write("src/notes.md", "# Notes");
  await write("src/bytes.dat", Buffer.of(1, 2, 3));
  await write(
    "src/index.tsx",
    `import { where } from "pretend";
import notes from "./notes.md";
import bytes from "./bytes.dat";
declare const VERSION: string;
const h = (name: string) => "<" + name + ">";
export default { version: VERSION, where, notes, bytes: [...new Uint8Array(bytes)], element: <b /> };
`,
  );
  const file = await write(
    "wrangler.toml",
    `name = "a"
main = "src/index.tsx"
compatibility_date = "2026-01-01"
jsx_factory = "h"
[define]
VERSION = '"1.2"'
[alias]
pretend = "./src/real.ts"
[[rules]]
type = "Text"
globs = ["**/*.md"]
[[rules]]
type = "Data"
globs = ["src/*.dat"]
`,
  );
  const { main, bundling } = readConfig(file, { now });
  const bundler = createBundler({ main: main!, directory, bundling });
  t.after(() => bundler.close());
  const placed = await (await bundler.build()).writeToFile();
  t.after(() => placed.remove());
  const { default: found } = (await import(pathToFileURL(placed.file).href)) as { default: unknown };
  assert.deepEqual(found, {
    version: "1.2",
    where: "real",
    notes: "# Notes",
    bytes: [1, 2, 3],
    element: "<b>",
  });
});

test("globs of bundling rules support **, * and alternatives in braces", () => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ["**/*.md", "a.md", true],
    ["**/*.md", "x/y/a.md", true],
    ["*.md", "x/a.md", true],
    ["src/*.md", "src/a.md", true],
    ["src/*.md", "src/x/a.md", false],
    ["./src/**", "src/x/a.md", true],
    ["**/*.{glsl,wgsl}", "a.wgsl", true],
    ["a?.md", "ab.md", true],
    ["*.md", "a.mdx", false],
    ["*.m+d", "a.mmd", false],
    ["*/docs/**", "docs/a/b.md", true],
    ["*/docs/**", "a/docs/b.md", true],
    ["*/docs/**", "docs.md", false],
  ];
  for (const [glob, path, matches] of rows) assert.equal(globMatcher(glob)(path), matches, glob);
});
