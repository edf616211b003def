// `npm run test:wpt -- --wpt DIR`: runs web-platform-tests on the classes of scripts and on Node's.
// Exits 1 if a test fails only on the classes of scripts and differences.ts does not list it.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type ComparedTest, compareFile } from "./compare.ts";
import { differencesFor } from "./differences.ts";
import { parseOptions, type RunOptions, usage } from "./options.ts";
import { formatReport, totalsByFolder } from "./report.ts";
import { runFile } from "./run-file.ts";
import { findTestRuns, type TestRun } from "./test-files.ts";

const concurrency = 2;
const differences = differencesFor(Number(process.versions.node.split(".")[0]));

async function compareRun(run: TestRun, { checkout, comparisonNode }: RunOptions): Promise<ComparedTest[]> {
  const ours = await runFile(run, { checkout, node: process.execPath, classes: "script" });
  const theirs = await runFile(run, { checkout, node: comparisonNode, classes: "node" });
  return compareFile(run.name, ours, theirs, differences);
}

async function runAll(runs: readonly TestRun[], options: RunOptions): Promise<ComparedTest[]> {
  const compared: ComparedTest[][] = [];
  let next = 0;
  async function work(): Promise<void> {
    for (let index = next++; index < runs.length; index = next++) {
      compared[index] = await compareRun(runs[index]!, options);
      if (process.stderr.isTTY) process.stderr.write(`\r${next} of ${runs.length} files`);
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work));
  return compared.flat();
}

async function main(): Promise<number> {
  const given = parseOptions(process.argv.slice(2));
  const isCheckout = given !== undefined && existsSync(join(given.checkout, "resources/testharness.js"));
  if (given === undefined || !isCheckout) {
    const fault = given === undefined ? "" : `${given.checkout} is not a web-platform-tests checkout.\n\n`;
    console.error(fault + usage);
    return 2;
  }
  const options = { ...given, checkout: resolve(given.checkout) };
  const runs = findTestRuns(options.checkout, options.only);
  if (runs.length === 0) {
    console.error(`No test file of the run matches --only ${options.only.join(" --only ")}.`);
    return 2;
  }
  const tests = await runAll(runs, options);
  const version = execFileSync(options.comparisonNode, ["--version"], { encoding: "utf8" }).trim();
  const names = { script: `script, ${process.version}`, node: `Node's, ${version}` };
  if (options.format === "json") console.log(JSON.stringify({ names, totals: totalsByFolder(tests), tests }));
  else console.log(formatReport(tests, names));
  return tests.some(({ verdict }) => verdict === "unexpected") ? 1 : 0;
}

process.exitCode = await main();
