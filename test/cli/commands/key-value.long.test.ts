// `store kv`: namespaces and keys, with text and JSON output.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openEngine } from "../../../src/open.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { assertNothingLeftOver } from "../../support/disk/on-disk.ts";
import { assertRefused } from "../refusals.ts";
import { openShell, type Shell } from "../store.ts";

async function openNamespace(t: Parameters<typeof openShell>[0]): Promise<Shell> {
  const shell = await openShell(t);
  const { engine } = await openEngine(join(shell.directory, ".store"));
  await engine.kv.createNamespace("sessions");
  await engine.close();
  return shell;
}

test("key-value namespaces are created, listed and deleted separately from buckets", async (t) => {
  const shell = await openShell(t);
  assert.equal(await shell.store("kv", "namespace", "create", "sessions"), "Created namespace sessions.\n");
  const other = JSON.parse(await shell.store("kv", "namespace", "create", "B_1", "--json")) as {
    created: string;
  };
  assert.deepEqual(other, { name: "B_1", created: other.created });
  const lines = (await shell.store("kv", "namespace", "list")).trimEnd().split("\n");
  assert.deepEqual(
    lines.map((line) => line.split("\t")[0]),
    ["B_1", "sessions"],
  );
  assert.equal(await shell.store("bucket", "list"), "");
  assert.equal(await shell.store("kv", "namespace", "delete", "B_1"), "Deleted namespace B_1.\n");
  await shell.store("kv", "put", "sessions", "a", "1");
  assert.equal(
    await shell.store("kv", "namespace", "delete", "sessions", "--force"),
    "Deleted namespace sessions and 1 key in it.\n",
  );
  assert.equal(await shell.store("kv", "namespace", "list", "--json"), "[]\n");
  const acts = await shell.store("audit");
  assert.match(acts, /create namespace +sessions/);
  assert.match(acts, /delete namespace +sessions/);
  assertNothingLeftOver(join(shell.directory, ".store"));
});

test("kv put reads a value from the command line, a file or stdin; kv get writes it to stdout or a file", async (t) => {
  const shell = await openNamespace(t);
  const bytes = sampleBytes(100_000);
  await writeFile(join(shell.directory, "in.bin"), bytes);
  assert.equal(await shell.store("kv", "put", "sessions", "a", "a value"), "Put a into sessions.\n");
  await shell.store("kv", "put", "sessions", "b", "--file", "in.bin");
  const piped = await shell.run(["kv", "put", "sessions", "c", "-"], { input: "piped\n" });
  assert.equal(piped.code, 0, piped.stderr);
  assert.equal(await shell.store("kv", "get", "sessions", "a"), "a value");
  assert.equal(await shell.store("kv", "get", "sessions", "c", "-"), "piped\n");
  await shell.store("kv", "get", "sessions", "b", "out.bin");
  assert.deepEqual(await readFile(join(shell.directory, "out.bin")), bytes);
  const binary = JSON.parse(await shell.store("kv", "get", "sessions", "b", "--json")) as object;
  assert.deepEqual(binary, { key: "b", value: bytes.toString("base64"), base64: true });
  assert.equal(await shell.store("kv", "delete", "sessions", "a"), "Deleted a from sessions.\n");
});

test("kv list prints expirations and metadata", async (t) => {
  const shell = await openNamespace(t);
  const expiration = 4_000_000_000;
  const metadata = '{"role":"admin"}';
  await shell.store("kv", "put", "sessions", "user:1", "Ada", "--expiration", String(expiration));
  await shell.store("kv", "put", "sessions", "user:2", "Bob", "--metadata", metadata, "--ttl", "3600");
  await shell.store("kv", "put", "sessions", "x", "--", "-y");
  const listed = JSON.parse(await shell.store("kv", "list", "sessions", "--json")) as {
    expiration?: number;
  }[];
  const ttl = listed[1]!.expiration!;
  assert.ok(Math.abs(ttl - Date.now() / 1000 - 3600) < 600);
  assert.deepEqual(listed, [
    { name: "user:1", expiration },
    { name: "user:2", expiration: ttl, metadata: { role: "admin" } },
    { name: "x" },
  ]);
  assert.equal(
    await shell.store("kv", "list", "sessions", "--prefix", "user:1"),
    "2096-10-02T07:06:40.000Z\tuser:1\t-\n",
  );
  assert.deepEqual(JSON.parse(await shell.store("kv", "get", "sessions", "user:1", "--json")), {
    key: "user:1",
    value: "Ada",
    expiration,
  });
});

test("kv bulk put reads the output of kv get --json, and puts nothing from an invalid file", async (t) => {
  const shell = await openNamespace(t);
  const entries = [
    { key: "a", value: "1", metadata: { n: 1 }, expiration: 4_000_000_000 },
    { key: "b", value: "/wA=", base64: true },
    { key: "c", value: "", expiration_ttl: 60 },
  ];
  const file = join(shell.directory, "keys.json");
  await writeFile(file, JSON.stringify(entries));
  assert.equal(
    await shell.store("kv", "bulk", "put", "sessions", "keys.json"),
    "Put 3 keys into sessions.\n",
  );
  for (const expected of entries.slice(0, 2)) {
    const found = await shell.store("kv", "get", "sessions", expected.key, "--json");
    assert.deepEqual(JSON.parse(found), expected);
  }
  for (const [fault, said] of [
    ["{}", "does not contain an array"],
    ["[1]", "entry 1 of its array is invalid: it is not an object"],
    ['[{"key":"x"}]', '"value" is not a string'],
    ['[{"key":"","value":""}]', "Key names must not be empty"],
    [
      '[{"key":"new","value":"1"},{"key":"x","value":"1","ttl":60}]',
      'entry 2 .* it has an unknown field "ttl"',
    ],
    ['[{"key":"x","value":"?","base64":true}]', '"value" is not base64'],
    ['[{"key":"x","value":"1","expiration_ttl":1}]', "Expiration TTL must be at least 60"],
    ['[{"key":"x","value":"1","expiration":"soon"}]', '"expiration" is not a whole number'],
    ["[", "it is not JSON"],
  ] as const) {
    await writeFile(file, fault);
    assert.match(await shell.fails(2, ["kv", "bulk", "put", "sessions", "keys.json"]), new RegExp(said));
  }
  const listed = JSON.parse(await shell.store("kv", "list", "sessions", "--json")) as { name: string }[];
  assert.deepEqual(
    listed.map(({ name }) => name),
    ["a", "b", "c"],
  );
});

test("invalid kv commands are refused with a hint", async (t) => {
  const shell = await openNamespace(t);
  await shell.store("kv", "put", "sessions", "a", "1");
  const missing = ['There is no namespace "nowhere"', "store kv namespace create nowhere"];
  await assertRefused(shell, 1, [
    [["kv", "namespace", "create", "sessions"], 'The namespace "sessions" already exists'],
    [["kv", "namespace", "delete", "sessions"], "is not empty", "store kv namespace delete sessions --force"],
    [["kv", "namespace", "delete", "nowhere"], ...missing],
    [["kv", "namespace", "delete", "nowhere", "--force"], ...missing],
    [["kv", "put", "nowhere", "a", "1"], ...missing],
    [["kv", "put", "nowhere", "a", "-"], ...missing],
    [["kv", "get", "nowhere", "a"], ...missing],
    [["kv", "list", "nowhere"], ...missing],
    [["kv", "delete", "nowhere", "a"], ...missing],
    [["kv", "get", "sessions", "b"], 'There is no key "b" in namespace "sessions"', "store kv list sessions"],
    [["kv", "delete", "sessions", "b"], 'There is no key "b" in namespace "sessions"'],
    [["bucket", "info", "kv:sessions"], 'There is no bucket "kv:sessions"'],
  ]);
  await assertRefused(shell, 2, [
    [["kv", "namespace", "create", "a b"], '"a b" is not a valid namespace name', "letters, digits"],
    [["kv", "namespace", "make"], 'There is no "store kv namespace make"'],
    [["kv", "namespace", "create"], "needs a name"],
    [["kv", "namespace", "list", "x"], 'does not expect "x"'],
    [["kv", "namespace", "list", "--force"], "has no option --force"],
    [["kv", "put", "sessions", "b"], "A value is missing", "--file FILE"],
    [["kv", "put", "sessions", "b", "1", "--file", "x"], "A value and --file cannot be combined"],
    [["kv", "put", "sessions", "b", "1", "--ttl", "soon"], "--ttl needs a whole number of seconds"],
    [["kv", "put", "sessions", "b", "1", "--ttl", "59"], "must be at least 60"],
    [["kv", "put", "sessions", "b", "1", "--metadata", "{"], "--metadata needs JSON"],
    [["kv", "put", "sessions", "..", "1"], 'Illegal key name ".."'],
    [["kv", "put", "sessions", "k".repeat(513), "1"], "exceeds key length limit of 512"],
    [["kv", "bulk", "get", "sessions", "x"], 'There is no "store kv bulk get"'],
  ]);
  assert.equal(await shell.store("kv", "list", "sessions"), "-\ta\t-\n");
});
