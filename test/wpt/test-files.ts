// Finds the test files of a checkout and reads the META comments at their top.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

/** One run of one test file; a file with variants is run once per variant. */
export interface TestRun {
  /** Path in the checkout, with the variant as its query: "url/url-setters.any.js?include=file". */
  readonly name: string;
  readonly title: string;
  readonly search: string;
  /** Paths in the checkout, in the order in which they are loaded; the test file is the last. */
  readonly scripts: readonly string[];
  readonly length: "normal" | "long";
}

/** Folders to run. Other folders of fetch/api test the network layer of a browser. */
export const folders: readonly string[] = [
  "fetch/api/headers",
  "fetch/api/body",
  "fetch/api/request",
  "fetch/api/response",
  "fetch/api/basic",
  "fetch/api/abort",
  "fetch/api/idlharness.https.any.js",
  "fetch/data-urls",
  "streams",
  "url",
  "encoding",
  "compression",
  "FileAPI",
];

/** Returns the runs of tests without a page: `.any.js` files run in any global scope. */
export function findTestRuns(checkout: string, only: readonly string[]): TestRun[] {
  return folders
    .flatMap((folder) => filesUnder(checkout, folder))
    .filter((file) => file.endsWith(".any.js"))
    .filter((file) => only.length === 0 || only.some((prefix) => file.startsWith(prefix)))
    .flatMap((file) => runsOf(file, readFileSync(join(checkout, file), "utf8")));
}

function filesUnder(checkout: string, folder: string): string[] {
  if (!existsSync(join(checkout, folder))) return [];
  if (folder.endsWith(".js")) return [folder];
  const names = readdirSync(join(checkout, folder), { recursive: true, encoding: "utf8" });
  return names.sort().map((name) => posix.join(folder, name));
}

export function runsOf(file: string, text: string): TestRun[] {
  const meta = (key: string) =>
    [...text.matchAll(/^\/\/ META: (\w+)=(.*)$/gm)]
      .filter(([, name]) => name === key)
      .map((match) => match[2]!);
  const scripts = meta("script").map((script) =>
    script.startsWith("/") ? script.slice(1) : posix.join(dirname(file), script),
  );
  const variants = meta("variant");
  return (variants.length === 0 ? [""] : variants).map((search) => ({
    name: file + search,
    title: meta("title")[0] ?? file,
    search,
    scripts: [...scripts, file],
    length: meta("timeout").includes("long") ? "long" : "normal",
  }));
}
