// `store audit --verify`, --expect, --follow and --limit, in real processes.
import assert from "node:assert/strict";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { openShell, type Shell } from "../store.ts";

async function scene(t: TestContext): Promise<{ shell: Shell; file: string }> {
  const shell = await openShell(t);
  for (const name of ["one", "two", "three", "four"]) await shell.store("bucket", "create", name);
  return { shell, file: join(shell.directory, ".store", "audit.log") };
}

function headIn(text: string): string {
  return /^Head: {2}([0-9a-f]{64})$/m.exec(text)![1]!;
}

test("audit --verify prints number, times and head of a whole chain, and accepts a head noted earlier", async (t) => {
  const { shell } = await scene(t);
  const early = await shell.store("audit", "--verify");
  assert.match(
    early,
    /^Read 4 entries, numbers 1 to 4\.\nFirst: 2\S+Z\nLast: {2}2\S+Z\nHead: {2}[0-9a-f]{64}\nThe chain is whole\.\n$/,
  );
  await shell.store("bucket", "public", "one");
  const later = await shell.store("audit", "--verify", "--expect", headIn(early));
  assert.notEqual(headIn(later), headIn(early));
  const report = JSON.parse(await shell.store("audit", "--verify", "--json")) as Record<string, unknown>;
  assert.deepEqual([report.isWhole, report.entries, report.breaks], [true, 5, []]);
  assert.match(
    await shell.store("audit", "--act", "change publication"),
    /change publication {2}one {2}command line \S+ {2}public\n$/,
  );
});

test("audit --verify names the line and the time of a changed, removed, inserted or swapped entry, with exit code 1", async (t) => {
  const { shell, file } = await scene(t);
  const text = readFileSync(file, "utf8");
  const lines = text.trimEnd().split("\n");
  const times = lines.map((line) => (JSON.parse(line) as { time: string }).time);
  const attacks: [string[], string][] = [
    [
      lines.with(1, lines[1]!.replace('"two"', '"2wo"')),
      `audit.log line 2: entry 2 of ${times[1]} was changed`,
    ],
    [
      lines.toSpliced(1, 1),
      `audit.log line 2: entry 2 was removed between entry 1 of ${times[0]} and entry 3`,
    ],
    [lines.toSpliced(2, 0, lines[0]!), `audit.log line 3: entry 1 of ${times[0]} was inserted`],
    [lines.with(1, lines[2]!).with(2, lines[1]!), `audit.log line 2: entry 3 of ${times[2]} was moved`],
    [lines.slice(0, 3), `Entry 4 is missing at the end of the log, after entry 3 of ${times[2]}`],
  ];
  for (const [changed, message] of attacks) {
    writeFileSync(file, `${changed.join("\n")}\n`);
    const { code, stdout } = await shell.run(["audit", "--verify"]);
    assert.equal(code, 1);
    assert.ok(stdout.includes(message), `${stdout}\ndoes not include\n${message}`);
    assert.match(stdout, /The chain is broken: 1 finding\.\n$/);
  }
  renameSync(`${file}.head`, `${file}.gone`);
  const { hash } = JSON.parse(lines[3]!) as { hash: string };
  assert.equal((await shell.run(["audit", "--verify"])).code, 0, "a cut-off end needs an expected hash");
  const expected = await shell.run(["audit", "--verify", "--expect", hash]);
  assert.equal(expected.code, 1);
  assert.ok(expected.stdout.includes(hash));
});

test("audit --json prints the lines of the log as they are, and --since and --until filter them", async (t) => {
  const { shell, file } = await scene(t);
  assert.equal(await shell.store("audit", "--json"), readFileSync(file, "utf8"));
  const times = readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { time: string }).time);
  const between = await shell.store("audit", "--since", times[1]!, "--until", times[2]!);
  assert.deepEqual(
    between
      .trim()
      .split("\n")
      .map((line) => line.split("  ")[2]),
    ["two", "three"],
  );
});

test("audit --follow prints entries that are recorded after the file was renamed", async (t) => {
  const { shell, file } = await scene(t);
  const following = shell.start(["audit", "--follow", "--json"]);
  const ended = new Promise((resolve) => following.once("exit", resolve));
  const lines = createInterface(following.stdout)[Symbol.asyncIterator]();
  const next = async () => (JSON.parse((await lines.next()).value as string) as { subject: string }).subject;
  for (const name of ["one", "two", "three", "four"]) assert.equal(await next(), name);
  await shell.store("bucket", "create", "five");
  assert.equal(await next(), "five");
  renameSync(file, `${file}.000000000000005`);
  await shell.store("bucket", "create", "six");
  assert.equal(await next(), "six");
  following.kill("SIGTERM");
  await ended;
  assert.match(await shell.store("audit", "--verify"), /Read 6 entries, numbers 1 to 6\./);
});

test("audit --limit records the change, and wrong combinations of options are refused", async (t) => {
  const { shell, file } = await scene(t);
  assert.match(await shell.store("audit", "--limit", "2MiB"), /limited to 2097152 bytes/);
  assert.equal(readFileSync(`${file}.limit`, "utf8"), "2097152\n");
  assert.match(await shell.store("audit"), /change audit limit {2}- {2}command line \S+ {2}2097152 bytes\n$/);
  assert.match(await shell.fails(2, ["audit", "--limit", "5"]), /at least 1MiB/);
  assert.match(await shell.fails(2, ["audit", "--expect", "a".repeat(64)]), /--expect needs --verify/);
  assert.match(await shell.fails(2, ["audit", "--verify", "--expect", "abc"]), /"abc" is not a hash/);
  assert.match(await shell.fails(2, ["audit", "--verify", "--follow"]), /takes no filter/);
});
