// `npm run test:interop`: installs the clients, drives each against a started store, and says at the end, once more
// and loudly, what could not be tested. A failing test fails the run; a client that cannot be had does not.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";
import { clientNames, titleOf } from "./clients.ts";
import { installClients } from "./install.ts";

/** For a whole client: far above what one takes. */
const patience = 540_000;

installClients();

const folder = fileURLToPath(new URL("./clients/", import.meta.url));
const files = readdirSync(folder)
  .filter((name) => name.endsWith(".test.js"))
  .map((name) => join(folder, name));
const notTested: string[] = [];
const passed = new Set<string>();
const tests = run({ files, concurrency: 2, timeout: patience });
tests.on("test:fail", () => {
  process.exitCode = 1;
});
tests.on("test:pass", ({ name, skip }) => {
  passed.add(name);
  if (skip !== undefined) notTested.push(`NOT TESTED: ${name}: ${skip}`);
});
tests.compose(new spec()).pipe(process.stdout);
process.on("exit", () => {
  // A file that ends before it tells anything is no pass.
  if (!clientNames.every((name) => passed.has(titleOf(name)))) process.exitCode = 1;
  if (notTested.length > 0) console.error(`\n${notTested.join("\n")}\n`);
});
