// Runs files of tests that need something this machine may not have, and says at the end, once more and loudly, what
// could not be tested. A failing test fails the run; what cannot be had does not.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";

export interface ToldRun {
  /** Where the files are. */
  readonly folder: URL;
  readonly concurrency: number;
  /** For a whole file, in milliseconds: far above what one takes. */
  readonly patience: number;
  /** Tests that must have been seen: a file that ends before it tells anything is no pass. */
  readonly titles: readonly string[];
}

export function toldRun({ folder, concurrency, patience, titles }: ToldRun): void {
  const place = fileURLToPath(folder);
  const files = readdirSync(place)
    .filter((name) => name.endsWith(".test.js"))
    .map((name) => join(place, name));
  const notTested: string[] = [];
  const passed = new Set<string>();
  const tests = run({ files, concurrency, timeout: patience });
  tests.on("test:fail", () => {
    process.exitCode = 1;
  });
  tests.on("test:pass", ({ name, skip }) => {
    passed.add(name);
    if (skip !== undefined) notTested.push(`NOT TESTED: ${name}: ${skip}`);
  });
  tests.compose(new spec()).pipe(process.stdout);
  process.on("exit", () => {
    if (!titles.every((title) => passed.has(title))) process.exitCode = 1;
    if (notTested.length > 0) console.error(`\n${notTested.join("\n")}\n`);
  });
}
