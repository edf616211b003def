// Runs test files that need programs which may be missing on this machine, and lists skipped tests
// at the end. Only a failed test fails the run.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";

export interface ToldRun {
  /** Folder of the compiled test files. */
  readonly folder: URL;
  readonly concurrency: number;
  /** Timeout of a whole file in milliseconds, far longer than any file takes. */
  readonly patience: number;
  /** Tests that must be reported, because a file may end without any result. */
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
