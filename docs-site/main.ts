// `npm run docs`: writes the generated references in docs/, and builds the site. With `--check`
// nothing is written, and references that are out of date fail.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildSite } from "./build-site.ts";
import { references } from "./references/references.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const { values } = parseArgs({
  options: {
    out: { type: "string", default: join(root, ".site") },
    base: { type: "string", default: "/" },
    check: { type: "boolean", default: false },
  },
});

const outdated: string[] = [];
for (const { file, text } of await references()) {
  const path = join(root, file);
  if (existsSync(path) && readFileSync(path, "utf8") === text) continue;
  outdated.push(file);
  if (!values.check) write(path, text);
}
const { files } = buildSite({ root, base: values.base });
if (values.check) {
  if (outdated.length > 0) {
    console.error(`Out of date: ${outdated.join(", ")}. Run: npm run docs`);
    process.exitCode = 1;
  }
} else writeSite(resolve(values.out));

function writeSite(out: string): void {
  // Only an earlier site is replaced: --out may be a folder with something else in it.
  const isSite = existsSync(join(out, "assets", "site.css"));
  if (existsSync(out) && readdirSync(out).length > 0 && !isSite) {
    console.error(`${out} is not empty and not a site: choose another folder with --out.`);
    process.exitCode = 1;
    return;
  }
  rmSync(out, { recursive: true, force: true });
  for (const [url, content] of files) write(join(out, url), content);
  for (const file of outdated) console.log(`Wrote ${file}.`);
  console.log(`Wrote ${files.size} files to ${out}.`);
}

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
