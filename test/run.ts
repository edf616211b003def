// Runs the tests of one lane: `node build/test/run.js short|slow|long|all [PATH ...]`. The slow lane
// has the files `*.slow.test.ts`, the long lane `*.long.test.ts`, the short lane all others. A PATH is
// the start of a path below test/.
import { readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";

const compiled = fileURLToPath(new URL("./", import.meta.url));
const sources = fileURLToPath(new URL("../../test/", import.meta.url));

/** Suites that have their own main program, which first installs or starts what they need. */
const suitesWithMain = ["cluster-run/", "console-run/", "interop/", "packaging-run/"];
/** Number of test files that run concurrently. Files of the short lane often wait for the disk. */
const concurrencyByLane = new Map([
  ["short", 3],
  ["slow", 2],
  ["long", 2],
  ["all", 2],
]);
/** Timeout of one file in milliseconds. The slowest file takes about a tenth of it. */
const fileTimeout = 600_000;

const [lane = "", ...paths] = process.argv.slice(2);
const concurrency = concurrencyByLane.get(lane);
const files = concurrency === undefined ? [] : findFiles();
if (files.length === 0) {
  console.error(
    "usage: node build/test/run.js short|slow|long|all [PATH ...], each PATH with tests below test/",
  );
  process.exit(2);
}

const empty: string[] = [];
const tests = run({ files, concurrency: concurrency!, timeout: fileTimeout });
tests.on("test:fail", () => {
  process.exitCode = 1;
});
tests.on("test:pass", ({ name }) => {
  // Node reports a file without tests as a test named by its path.
  if (files.includes(resolve(name))) empty.push(name);
});
const milliseconds = new Map<string, number>();
for (const event of ["test:pass", "test:fail"] as const) {
  tests.on(event, ({ file = "", nesting, details }) => {
    if (nesting === 0) milliseconds.set(file, (milliseconds.get(file) ?? 0) + details.duration_ms);
  });
}
tests.compose(new spec()).pipe(process.stdout);
process.on("exit", () => {
  console.log(`\nSlowest files:\n${slowestFiles().join("\n")}`);
  if (empty.length === 0) return;
  process.exitCode = 1;
  console.error(`\nFiles without tests:\n${empty.join("\n")}`);
});

/** The lane of a file is chosen by its duration, so each run shows the longest. */
function slowestFiles(): string[] {
  return [...milliseconds]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 40)
    .map(([file, total]) => `${(total / 1000).toFixed(1).padStart(7)} s  ${relative(compiled, file)}`);
}

/** Lists files from the sources, since build/ may contain outdated files. */
function findFiles(): string[] {
  return readdirSync(sources, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .filter((name) => !suitesWithMain.some((suite) => name.startsWith(suite)))
    .filter((name) => lane === "all" || laneOf(name) === lane)
    .filter((name) => paths.length === 0 || paths.some((path) => name.startsWith(path)))
    .sort()
    .map((name) => join(compiled, name.replace(/\.ts$/, ".js")));
}

function laneOf(name: string): "short" | "slow" | "long" {
  if (name.endsWith(".slow.test.ts")) return "slow";
  return name.endsWith(".long.test.ts") ? "long" : "short";
}
