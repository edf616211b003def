// Which store a command uses: options, environment, configuration, or the default data directory.
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { readArguments } from "../../../src/cli/framework/arguments.ts";
import type { Command, Invocation } from "../../../src/cli/framework/command.ts";
import { createOutput } from "../../../src/cli/framework/output.ts";
import { storeLocation } from "../../../src/cli/store/store-location.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import { assertRefused } from "../refusals.ts";
import { openShell } from "../store.ts";

const records = "postgres://store:hunter2@db/store";
const blobs = "s3://KEY:hunter2@host:7480/bucket";
const command: Command = {
  ...{ name: "list", summary: "", usage: [""], options: {}, examples: [], configs: "many" },
  run: async () => {},
};

function called(
  directory: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Invocation {
  const { stdout, stderr } = process;
  const output = createOutput({ stdout, stderr, environment, json: false });
  return { command: "bucket list", ...readArguments("list", command, args), output, environment, directory };
}

test("the store location is read from options, environment, configuration and default, in this order", async (t) => {
  const directory = await temporaryDirectory(t);
  const configured = join(directory, "configured");
  await mkdir(configured);
  await writeFile(
    join(configured, "store.toml"),
    'records = "postgres://of-config/store"\nblobs = "file:///of/config"\nreads = "strict"\n' +
      'cache = { directory = "/var/cache/store", size = "10GiB" }\n',
  );
  const variables = { STORE_RECORDS: "postgres://of-env/store", STORE_BLOBS: "file:///of/env" };
  const options = ["--records", "postgres://of-option/store", "--blobs", "file:///of/option"];
  const of = (name: string) => ({ records: `postgres://of-${name}/store`, blobs: `file:///of/${name}` });
  const strict = { reads: "strict", cache: { directory: "/var/cache/store", size: 10 * 1024 ** 3 } };
  const cacheVariables = { STORE_CACHE: "/mnt/ssd", STORE_CACHE_SIZE: "2TB" };
  const rows: readonly [Invocation, unknown][] = [
    [called(directory, []), join(directory, ".store")],
    [called(directory, ["--data", "x"], variables), join(directory, "x")],
    [called(directory, ["--data", "memory:"], variables), "memory:"],
    [called(directory, [], { STORE_DATA: "y" }), join(directory, "y")],
    [called(configured, []), { ...of("config"), ...strict }],
    [called(configured, [], { STORE_READS: "usual" }), { ...of("config"), ...strict, reads: "usual" }],
    [
      called(configured, [], cacheVariables),
      { ...of("config"), ...strict, cache: { directory: "/mnt/ssd", size: 2e12 } },
    ],
    [called(directory, ["--data", "x"], cacheVariables), join(directory, "x")],
    [called(directory, ["--config", "configured/store.toml"]), { ...of("config"), ...strict }],
    [called(configured, ["--data", "x"]), join(configured, "x")],
    [called(configured, [], { STORE_DATA: "y" }), join(configured, "y")],
    [called(configured, [], variables), { ...of("env"), ...strict }],
    [called(directory, [], variables), of("env")],
    [called(directory, options, variables), of("option")],
    [called(directory, options, { ...variables, STORE_DATA: "y" }), of("option")],
    [
      called(directory, options.slice(0, 2), variables),
      { ...of("env"), records: "postgres://of-option/store" },
    ],
    [called(configured, options.slice(2)), { ...of("config"), blobs: "file:///of/option", ...strict }],
    [called(directory, [], { STORE_RECORDS: "", STORE_BLOBS: "" }), join(directory, ".store")],
  ];
  for (const [i, [invocation, expected]] of rows.entries()) {
    assert.deepEqual(await storeLocation(invocation), expected, `row ${i}`);
  }
});

test("incomplete, conflicting and invalid store locations are refused with a hint that shows no password", async (t) => {
  const directory = await temporaryDirectory(t);
  for (const [name, text] of Object.entries({
    half: `records = "${records}"\n`,
    one: 'records = "postgres://one/store"\nblobs = "file:///one"\n',
    two: 'records = "postgres://two/store"\nblobs = "file:///one"\n',
    wrong: 'blobs = "ftp://KEY:hunter2@host/bucket"\n',
    cached: 'cache = { directory = "/var/cache/store", size = "10GiB" }\n',
    small: 'cache = { directory = "cache", size = "10MB" }\n',
    empty: "cache = {}\n",
  })) {
    await writeFile(join(directory, `${name}.toml`), text);
  }
  const rows: readonly [readonly string[], Readonly<Record<string, string>>, RegExp][] = [
    [["--records", records], {}, /needs both records and blobs: "blobs" is missing/],
    [["--blobs", blobs], {}, /needs both records and blobs: "records" is missing/],
    [[], { STORE_RECORDS: records }, /needs both records and blobs: "blobs" is missing/],
    [
      ["--config", "half.toml"],
      {},
      /half\.toml:1:11: A cluster needs both records and blobs: "blobs" is missing/,
    ],
    [
      ["--config", "one.toml", "--config", "two.toml"],
      {},
      /two\.toml:1:11: "records" differs from one\.toml/,
    ],
    [["--config", "wrong.toml"], {}, /wrong\.toml:1:9: "blobs" must begin with s3:\/\/ or file:/],
    [["--config", "cached.toml"], {}, /cached\.toml:1:9: "cache" is for a cluster, but the store is a data/],
    [["--config", "small.toml"], {}, /small\.toml:1:23: "cache\.directory" must be the absolute path/],
    [["--config", "small.toml"], {}, /small\.toml:1:39: "cache\.size" must be at least 1 GiB/],
    [["--config", "empty.toml"], {}, /"directory" is missing in cache/],
    [
      [],
      { STORE_RECORDS: records, STORE_BLOBS: blobs, STORE_CACHE: "/c" },
      /STORE_CACHE_SIZE must be at least 1 GiB/,
    ],
    [
      [],
      { STORE_RECORDS: records, STORE_BLOBS: blobs, STORE_CACHE_SIZE: "2GiB" },
      /STORE_CACHE must be the absolute path/,
    ],
    [["--config", "absent.toml"], {}, /There is no configuration file "absent\.toml"/],
    [["--data", "x", "--records", records, "--blobs", blobs], {}, /cannot be combined/],
    [[], { STORE_DATA: "x", STORE_RECORDS: records }, /STORE_DATA \(a directory\) and STORE_RECORDS/],
    [["--data", ""], {}, /--data needs a folder/],
    [["--records", "mysql://a:hunter2@b/c", "--blobs", blobs], {}, /--records must begin with postgres/],
    [["--records", "", "--blobs", blobs], {}, /--records must begin with postgres/],
    [[], { STORE_RECORDS: records, STORE_BLOBS: "hunter2" }, /STORE_BLOBS must begin with s3/],
    [
      [],
      { STORE_RECORDS: records, STORE_BLOBS: blobs, STORE_READS: "x" },
      /STORE_READS must be "usual" or "strict"/,
    ],
  ];
  for (const [args, environment, says] of rows) {
    const error = await storeLocation(called(directory, args, environment)).catch(
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof Error, String(says));
    assert.match(error.message, says);
    assert.doesNotMatch(error.message, /hunter2/);
  }
});

test("commands for data directories refuse a cluster, and keys of a cluster need STORE_SECRET_KEY", async (t) => {
  const shell = await openShell(t);
  const places = [
    "--records",
    "postgres://store:hunter2@127.0.0.1:1/store",
    "--blobs",
    "file:///nowhere/store",
  ];
  await assertRefused(shell, 1, [
    [
      ["backup", "--to", "x", ...places],
      "The store is a cluster: its backup needs a folder",
      "--staging DIR",
    ],
    [
      ["restore", "--from", "x", ...places],
      "The store is a cluster: a restore needs a folder",
      "--staging DIR",
    ],
    [["migrate"], "A data directory needs no migration", "--records URL"],
  ]);
  const [told, debugged] = await Promise.all([
    shell.fails(1, ["bucket", "list", ...places]),
    shell.run(["migrate", ...places], { environment: { STORE_DEBUG: "1" } }),
  ]);
  assert.match(
    told,
    /Cannot open the store in postgres:\/\/127\.0\.0\.1:1\/store and file:\/\/\/nowhere\/store: /,
  );
  assert.doesNotMatch(told, /hunter2/);
  assert.equal(debugged.code, 1);
  assert.match(debugged.stderr, /Cannot migrate postgres:\/\/127\.0\.0\.1:1\/store: /);
  assert.doesNotMatch(debugged.stderr + debugged.stdout, /hunter2/);
});
