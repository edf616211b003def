// Checks README.md: `npm start` prints the output shown, and the commands to try work.
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { cp, mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryDirectory } from "../support/stores.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const run = promisify(execFile);
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  scripts: { start: string };
};

/** Returns the lines of the block after "prints" in README.md, without indentation. */
function shown(): string[] {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const block = /prints\n\n((?: {4}.*\n|\n)+)/.exec(readme)?.[1] ?? "";
  return block
    .trimEnd()
    .split("\n")
    .map((line) => line.slice(4));
}

async function startInCopy(t: TestContext): Promise<{ server: ChildProcess; lines: string[] }> {
  const directory = await temporaryDirectory(t);
  await mkdir(join(directory, "examples"));
  await cp(join(root, "examples", "reference"), join(directory, "examples", "reference"), {
    recursive: true,
  });
  await symlink(join(root, "dist"), join(directory, "dist"));
  await symlink(join(root, "node_modules"), join(directory, "node_modules"));
  const [, ...args] = scripts.start.split(" ");
  const server = spawn(process.execPath, [...args, "--port", "0", "--s3-port", "0", "--console-port", "0"], {
    cwd: directory,
  });
  t.after(async () => {
    if (server.exitCode !== null) return;
    server.kill();
    await once(server, "exit");
  });
  const lines: string[] = [];
  let errors = "";
  server.stderr!.on("data", (text) => {
    errors += text;
  });
  for await (const text of server.stdout!.setEncoding("utf8")) {
    lines.push(...(text as string).split("\n"));
    if (lines.some((line) => line.includes("AWS_SECRET_ACCESS_KEY"))) break;
  }
  return { server, lines: [...errors.trimEnd().split("\n"), ...lines].filter((line) => line !== "") };
}

test("npm start prints the output shown in README.md, and the three curl commands that it prints work", async (t) => {
  const { server, lines } = await startInCopy(t);
  const told = lines.join("\n");
  const [, port = ""] = /^Listening on .*:(\d+)\/$/m.exec(told) ?? [];
  const [, s3Port = ""] = /^S3 API on .*:(\d+)$/m.exec(told) ?? [];
  const [, consolePort = ""] = /^Console on .*:(\d+)$/m.exec(told) ?? [];
  /** Replaces ports and keys, which differ in each run, by the values in README.md. */
  const asShown = (line: string) =>
    line
      .replace(`:${port}/`, ":8787/")
      .replace(new RegExp(`:${s3Port}\\b`), ":9000")
      .replace(new RegExp(`:${consolePort}\\b`), ":9001")
      .replace(/sct-[a-z2-7]{10}-[\w-]{43}$/, "sct-abcdefghij-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ")
      .replace(/STORE[A-Z2-7]{15}$/, "STOREABCDEFGHIJKLMNO")
      .replace(/(SECRET_ACCESS_KEY=)[\w-]{40}$/, "$1abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN");
  // Without a terminal, a table has no header and no padding.
  const words = (text: string) => text.trim().split(/\s+/).join(" ");
  const wanted = shown().filter((line) => line !== "" && !line.startsWith("SCRIPT"));
  assert.deepEqual(
    lines.map((line) => words(asShown(line))),
    wanted.map(words),
  );

  const answers: string[] = [];
  for (const line of lines.filter((text) => text.includes("curl"))) {
    const { stdout } = await run("sh", ["-c", line.trim().replace("curl", "curl -sS")]);
    answers.push(stdout);
  }
  assert.deepEqual(answers, ["Put hello.txt successfully!", "Hello, world!", "Deleted!"]);
  server.kill("SIGTERM");
  const [code] = await once(server, "exit");
  assert.equal(code, 0);
});

test("examples/first-bucket, which embeds a store, runs twice on the same data directory", async (t) => {
  const directory = await temporaryDirectory(t);
  await mkdir(join(directory, "node_modules"));
  await symlink(root, join(directory, "node_modules", "store-server"));
  await cp(join(root, "examples", "first-bucket", "main.js"), join(directory, "main.mjs"));
  for (const time of ["first", "second"]) {
    const { stdout } = await run(process.execPath, ["main.mjs"], { cwd: directory });
    assert.match(stdout, /^got {7}Hello, world!$/m, `the ${time} time`);
  }
});
