// The whole command line: help, usage errors with hints, exit codes.
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { shownCatalog } from "../../../src/cli/catalog.ts";
import { type Command, isGroup } from "../../../src/cli/framework/command.ts";
import { createOutput } from "../../../src/cli/framework/output.ts";
import { helpText } from "../../../src/cli/help.ts";
import { assertRefused } from "../refusals.ts";
import { filesIn, openShell } from "../store.ts";

test("store without a command, store help and store --help print the same overview", async (t) => {
  const shell = await openShell(t);
  const overview = await shell.store();
  assert.match(overview, /^Usage$/m);
  assert.equal(await shell.store("help"), overview);
  assert.equal(await shell.store("--help"), overview);
  assert.equal(await shell.store("-h"), overview);
});

test("the overview has a line of at most 100 columns for every command", async (t) => {
  const overview = await (await openShell(t)).store();
  for (const { name } of shownCatalog) {
    const [line] = new RegExp(`^  ${name} .*$`, "m").exec(overview) ?? [];
    assert.ok(line !== undefined && line.length <= 100, line ?? name);
  }
});

test("store --version prints the version of the package", async (t) => {
  const shell = await openShell(t);
  assert.match(await shell.store("--version"), /^\d+\.\d+\.\d+\n$/);
});

test("every command has help with its usage, every option and examples", async () => {
  const plain = createOutput({
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    environment: {},
    json: false,
  });
  const commands = await everyCommand();
  assert.ok(commands.length >= 20);
  for (const { words, command } of commands) {
    const path = words.join(" ");
    assert.ok(command.examples.length > 0, `${path} has an example`);
    const help = `${await helpText({ entry: command, path }, plain.style)}\n`;
    assert.match(help, new RegExp(`^Usage\\n {2}store ${path}`, "m"));
    for (const example of command.examples) assert.ok(help.includes(`\n  ${example}\n`), example);
    for (const option of [...Object.keys(command.options), "config", "data", "json", "help"]) {
      assert.match(help, new RegExp(`^ {2}--${option}\\b`, "m"));
    }
  }
});

test("--help after a command prints its help, ignores other arguments, and changes nothing", async (t) => {
  const shell = await openShell(t);
  const help = await shell.store("object", "put", "--help");
  assert.match(help, /^Upload a file or stdin to a bucket\.\n/);
  assert.equal(await shell.store("help", "object", "put"), help);
  assert.equal(await shell.store("object", "put", "photos/a", "file", "--nonsense", "-h"), help);
  assert.deepEqual(await filesIn(shell.directory), {});
});

test("every example of a command is a command line that its declaration accepts", async () => {
  const { readArguments } = await import("../../../src/cli/framework/arguments.ts");
  for (const { words, command } of await everyCommand()) {
    for (const example of command.examples) {
      const line = example.split("|").find((part) => part.trim().startsWith("store "));
      // Split the line as a shell does: quoted text is one word.
      const given = Array.from(
        line!.trim().matchAll(/"([^"]*)"|\S+/g),
        ([all, quoted]) => quoted ?? all,
      ).slice(1);
      assert.deepEqual(given.slice(0, words.length), words, `${example} is one of store ${words.join(" ")}`);
      readArguments(words.join(" "), command, given.slice(words.length));
    }
  }
});

async function everyCommand(): Promise<{ words: string[]; command: Command }[]> {
  const entries = await Promise.all(
    shownCatalog.map(async ({ name, load }) => ({ name, entry: await load() })),
  );
  return entries.flatMap(({ name, entry }) =>
    isGroup(entry)
      ? entry.commands.map((command) => ({ words: [name, command.name], command }))
      : [{ words: [name], command: entry }],
  );
}

test("help of a group lists its commands, and a group without a command is a usage error", async (t) => {
  const shell = await openShell(t);
  const help = await shell.store("bucket", "--help");
  for (const name of ["create", "list", "info", "delete"])
    assert.match(help, new RegExp(`store bucket ${name}`));
  await assertRefused(shell, 2, [
    [["bucket"], "needs a subcommand: create, list, info, ", "store bucket --help"],
  ]);
});

test("an unknown command or option is a usage error that suggests the nearest name", async (t) => {
  const shell = await openShell(t);
  await assertRefused(shell, 2, [
    [["bukcet", "list"], 'There is no command "store bukcet"', "Did you mean: store bucket"],
    [["bucket", "lits"], 'There is no command "store bucket lits"', "Did you mean: store bucket list"],
    [["object", "rm", "a/b"], "Did you mean: store object delete"],
    [["object", "ls", "a"], "Did you mean: store object list"],
    [["xyzzy"], 'There is no command "store xyzzy"', /^(?!.*Did you mean).*$/s, "store --help"],
    [["help", "bucket", "xyzzy"], 'There is no command "store bucket xyzzy"'],
    [["__proto__"], 'There is no command "store __proto__"'],
    [["object", "list", "photos", "--limt", "3"], "has no option --limt", "Did you mean --limit?"],
    [["bucket", "list", "--jsno"], "has no option --jsno", "Did you mean --json?"],
    [["bucket", "list", "-x"], "has no option -x", "store bucket list --help"],
    [["bucket", "list", "--__proto__"], "has no option --__proto__"],
    [["--frobnicate"], '"--frobnicate" needs a command'],
  ]);
  assert.deepEqual(await filesIn(shell.directory), {}, "nothing was created");
});

test("missing, extra and invalid arguments are usage errors that show the correct usage", async (t) => {
  const shell = await openShell(t);
  await assertRefused(shell, 2, [
    [
      ["bucket", "create"],
      "needs <name>",
      "Usage: store bucket create <name>",
      "For example: store bucket create",
    ],
    [["object", "put"], "needs <bucket>/<key> and <file>"],
    [["object", "put", "photos/a"], "needs <file>"],
    [["object", "list"], "needs <bucket>[/prefix]"],
    [["secret", "put"], "needs <NAME>"],
    [["key", "delete"], "needs <access-key-id>"],
    [["bucket", "create", "my", "photos"], 'does not expect "photos"', "in quotes"],
    [["bucket", "list", "photos"], 'does not expect "photos"'],
    [["bucket", "list", "--data"], "--data needs a value"],
    [["bucket", "list", `-${"a".repeat(100_000)}`], "There is no option -aaaa"],
    [["bucket", "list", "--data", "--json"], '--data needs a value, but "--json" follows', "--data=--json"],
    [["bucket", "list", "--data="], "--data needs a folder"],
    [["bucket", "list", "--json=yes"], "--json takes no value"],
    [["bucket", "list", "--json", "--json"], "--json was given more than once"],
    [["bucket", "list", "--config", "a.toml", "--config", "b.toml"], "--config was given more than once"],
    [["object", "list", "photos", "--limit", "0"], '--limit must be a whole number of at least 1, not "0"'],
    [["object", "list", "photos", "--limit=-1"], 'not "-1"'],
    [["object", "list", "photos", "--delimiter="], "--delimiter needs at least one character"],
    [["object", "put", "photos", "file"], '"photos" is not an object', "For example: photos/cat.jpg"],
    [["object", "put", "photos/", "file"], '"photos/" has no key'],
    [["object", "get", "photos"], '"photos" is not an object'],
    [["object", "get", "photos/a", "--json"], "--json needs a file"],
    [["object", "put", "photos/a", "f", "--metadata", "x"], "--metadata NAME=VALUE"],
    [["object", "put", "photos/a", "f", "--metadata", "=x"], "--metadata NAME=VALUE"],
  ]);
  assert.deepEqual(await filesIn(shell.directory), {}, "nothing was created");
});

test("global options may be before, between and after the words of a command", async (t) => {
  const shell = await openShell(t);
  await shell.store("--data", "here", "bucket", "create", "photos");
  const expected = await shell.store("bucket", "list", "--json", "--data", "here");
  assert.equal(await shell.store("--json", "--data", "here", "bucket", "list"), expected);
  assert.equal(await shell.store("bucket", "--data=here", "list", "--json"), expected);
  assert.match(expected, /"name":"photos"/);
});

test("everything after -- is a positional argument", async (t) => {
  const shell = await openShell(t);
  await shell.store("bucket", "create", "photos");
  await writeFile(join(shell.directory, "--json"), "text");
  await shell.store("object", "put", "photos/a", "--", "--json");
  assert.equal(await shell.store("object", "get", "photos/a"), "text");
});

test("the data directory is --data, then STORE_DATA, then .store next to the configuration, then ./.store", async (t) => {
  const shell = await openShell(t);
  const names = async (args: string[], environment = {}) => {
    const { stdout, stderr } = await shell.run(["bucket", "list", "--json", ...args], { environment });
    assert.equal(stderr, "");
    return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
  };
  await mkdir(join(shell.directory, "project"));
  await writeFile(join(shell.directory, "project", "store.toml"), "not even TOML");
  const config = ["--config", "project/store.toml"];
  await shell.store("bucket", "create", "here");
  await shell.store("bucket", "create", "by-option", "--data", "data/option");
  await shell.store("bucket", "create", "beside-config", ...config);
  const made = await shell.run(["bucket", "create", "by-variable"], {
    environment: { STORE_DATA: "variable" },
  });
  assert.equal(made.code, 0);

  assert.deepEqual(await names([]), ["here"]);
  assert.deepEqual(await names([], { STORE_DATA: "" }), ["here"], "an empty variable counts as unset");
  assert.deepEqual(await names([], { STORE_DATA: "variable" }), ["by-variable"]);
  assert.deepEqual(await names(["--data", "data/option"], { STORE_DATA: "variable" }), ["by-option"]);
  assert.deepEqual(await names(config), ["beside-config"]);
  assert.deepEqual(await names(["--data", join(shell.directory, ".store"), ...config]), ["here"]);
  await shell.fails(1, ["bucket", "list", "--config", "nowhere.toml"]);
});
