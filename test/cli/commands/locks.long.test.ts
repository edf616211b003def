// Locks and tags on the command line: lock rules, Object Lock, retention, legal holds, tags.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { Engine } from "../../../src/engine/engine.ts";
import { openEngine } from "../../../src/open.ts";
import { assertRefused } from "../refusals.ts";
import { openShellWithBucket, type Shell } from "../store.ts";

const day = 24 * 60 * 60 * 1000;

async function withEngine<T>({ directory }: Shell, work: (engine: Engine) => Promise<T>): Promise<T> {
  const { engine } = await openEngine(join(directory, ".store"));
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

function put(shell: Shell, ...keys: string[]): Promise<unknown> {
  const bytes = new TextEncoder().encode("some bytes");
  return withEngine(shell, (engine) => Promise.all(keys.map((key) => engine.put("photos", key, bytes))));
}

async function auditedActions(shell: Shell): Promise<string[]> {
  const lines = (await shell.store("audit", "--subject", "photos", "--json")).trim().split("\n");
  return lines.map((line) => (JSON.parse(line) as { act: string }).act);
}

test("bucket lock adds, lists and removes rules, which keep objects from deletes and puts", async (t) => {
  const shell = await openShellWithBucket(t);
  await put(shell, "daily/a", "other");
  const add = ["bucket", "lock", "add", "photos"];
  assert.equal(
    await shell.store(...add, "--prefix", "daily/", "--days", "30", "--id", "month"),
    "rule\tmonth\nkeys\tdaily/*\nlocked\tfor 30 days after a write\n",
  );
  await shell.store(...add, "--prefix", "later/", "--until", "2100-01-01T00:00:00Z", "--id", "date");
  const endless = JSON.parse(await shell.store(...add, "--prefix", "x", "--indefinite", "--json"));
  assert.equal(
    await shell.store("bucket", "lock", "list", "photos"),
    [
      "month\tdaily/*\tfor 30 days after a write",
      "date\tlater/*\tuntil 2100-01-01T00:00:00.000Z",
      `${endless.id}\tx*\tuntil the rule is removed\n`,
    ].join("\n"),
  );
  await assertRefused(shell, 1, [
    [["object", "delete", "photos/daily/a"], 'locked by the bucket\'s lock rule "month" until'],
    [["object", "put", "photos/daily/a", "-"], 'locked by the bucket\'s lock rule "month" until'],
    [["bucket", "lock", "remove", "photos", "none"], 'has no lock rule "none"'],
  ]);
  await shell.store("object", "delete", "photos/other");
  assert.match(await shell.store("bucket", "info", "photos"), /^locks\t3 rules$/m);

  assert.equal(
    await shell.store("bucket", "lock", "remove", "photos", "month"),
    "Removed lock rule month of bucket photos.\n",
  );
  await shell.store("object", "delete", "photos/daily/a");
  const rules = JSON.parse(await shell.store("bucket", "lock", "list", "photos", "--json"));
  assert.deepEqual(rules[0], {
    id: "date",
    isEnabled: true,
    prefix: "later/",
    until: "2100-01-01T00:00:00.000Z",
    isIndefinite: false,
  });
  assert.deepEqual(await auditedActions(shell), Array(4).fill("change lock rules"));
});

test("bucket lock refuses a missing, contradictory or past duration, and an id that is not valid", async (t) => {
  const shell = await openShellWithBucket(t);
  const add = ["bucket", "lock", "add", "photos"];
  await assertRefused(shell, 2, [
    [add, "Specify exactly one duration"],
    [[...add, "--days", "3", "--indefinite"], "Specify exactly one duration"],
    [[...add, "--days", "0"], "--days must be a whole number from 1"],
    [[...add, "--until", "2020-01-01"], "must be in the future"],
    [[...add, "--days", "3", "--id", "a b"], 'Rule name "a b" is not valid'],
    [["bucket", "lock", "photos", "all"], 'There is no "store bucket lock photos"', "add, list, remove"],
    [["bucket", "lock", "remove", "photos"], "needs a rule"],
    [["bucket", "lock", "list"], "needs <bucket>"],
  ]);
  await shell.store(...add, "--days", "3", "--id", "same");
  await assertRefused(shell, 2, [[[...add, "--days", "3", "--id", "same"], "already exists"]]);
});

test("bucket delete --force deletes nothing if a version is locked, and reports the locks", async (t) => {
  const shell = await openShellWithBucket(t);
  await shell.store("bucket", "versioning", "photos", "on");
  await put(shell, ...Array.from({ length: 12 }, (_, i) => `daily/${i}`), "other");
  await shell.store("bucket", "lock", "add", "photos", "--prefix", "daily/", "--days", "30", "--id", "month");
  const refused = await shell.fails(1, ["bucket", "delete", "photos", "--force", "--yes"]);
  assert.match(refused, /^error: 12 versions are locked in bucket "photos"; nothing was deleted\.$/m);
  assert.equal(refused.match(/locked by the bucket's lock rule "month" until/g)?.length, 10);
  assert.match(refused, /and 2 more/);
  assert.equal((await withEngine(shell, (engine) => engine.totals("photos"))).objects, 13);
  await shell.store("bucket", "lock", "remove", "photos", "month");
  assert.equal(
    await shell.store("bucket", "delete", "photos", "--force"),
    "Deleted bucket photos and 13 objects in it.\n",
  );
});

test("bucket object-lock enables Object Lock with versioning, and sets the default retention", async (t) => {
  const shell = await openShellWithBucket(t);
  const lock = (...words: string[]) => shell.store("bucket", "object-lock", "photos", ...words);
  assert.equal(await lock(), "Object Lock of bucket photos is not enabled.\n");
  await assertRefused(shell, 1, [
    [["bucket", "object-lock", "photos", "default", "--none"], "is not enabled", "photos enable"],
  ]);
  assert.equal(
    await lock("enable"),
    "Object Lock of bucket photos is enabled, without a default retention.\n",
  );
  assert.match(await shell.store("bucket", "versioning", "photos"), /is on/);
  assert.equal(
    await lock("default", "--mode", "governance", "--days", "1"),
    "Object Lock of bucket photos is enabled, with a default retention of 1 day (governance).\n",
  );
  await put(shell, "cat");
  const { retention } = JSON.parse(await shell.store("object", "head", "photos/cat", "--json"));
  assert.equal(retention.mode, "governance");
  assert.ok(Math.abs(Date.parse(retention.until) - Date.now() - day) < 60_000, retention.until);
  assert.deepEqual(JSON.parse(await lock("default", "--none", "--json")), {
    name: "photos",
    objectLock: true,
    defaultRetention: null,
  });
  await assertRefused(shell, 2, [
    [["bucket", "object-lock", "photos", "default"], "Specify the default retention"],
    [["bucket", "object-lock", "photos", "--days", "3"], "set the default retention"],
    [
      ["bucket", "object-lock", "photos", "default", "--mode", "soft", "--days", "3"],
      "governance or compliance",
    ],
    [["bucket", "object-lock", "photos", "disable"], 'not "disable"'],
  ]);
  await assertRefused(shell, 1, [
    [["bucket", "versioning", "photos", "suspend"], "versioning must be on", "store bucket info photos"],
  ]);
  assert.deepEqual(await auditedActions(shell), Array(3).fill("change object lock"));
});

test("object retention keeps a version; --bypass-governance removes governance, not compliance", async (t) => {
  const shell = await openShellWithBucket(t);
  await put(shell, "early");
  await assertRefused(shell, 1, [
    [
      ["object", "retention", "photos/early", "--mode", "governance", "--until", "30d"],
      "Object Lock is not enabled",
    ],
  ]);
  await shell.store("bucket", "object-lock", "photos", "enable");
  await put(shell, "cat", "dog");
  const retention = (key: string, ...options: string[]) =>
    shell.store("object", "retention", `photos/${key}`, ...options);
  assert.equal(await retention("cat"), "photos/cat has no retention.\n");
  const until = "2100-01-01T00:00:00.000Z";
  const text = `photos/cat is under governance retention until ${until}.\n`;
  assert.equal(await retention("cat", "--mode", "governance", "--until", until), text);
  await retention("dog", "--mode", "compliance", "--until", "2d");
  const { version } = JSON.parse(await shell.store("object", "head", "photos/cat", "--json"));
  const dog = JSON.parse(await shell.store("object", "head", "photos/dog", "--json"));
  await assertRefused(shell, 1, [
    [["object", "delete", "photos/cat", "--version", version], `governance retention until ${until}`],
    [["object", "retention", "photos/cat", "--clear"], "locked by governance retention"],
    [
      ["object", "retention", "photos/dog", "--clear", "--bypass-governance"],
      "locked by compliance retention",
    ],
    [
      ["object", "delete", "photos/dog", "--version", dog.version, "--bypass-governance"],
      "locked by compliance retention",
    ],
    [["bucket", "delete", "photos", "--force", "--bypass-governance"], "1 version is locked"],
  ]);
  await assertRefused(shell, 2, [
    [["object", "retention", "photos/cat", "--mode", "governance"], "needs both"],
    [["object", "retention", "photos/cat", "--clear", "--until", "3d"], "cannot be combined"],
    [["object", "retention", "photos/cat", "--bypass-governance"], "needs a change"],
  ]);
  await shell.store("object", "delete", "photos/cat", "--version", version, "--bypass-governance");
  assert.match(await shell.fails(1, ["object", "retention", "photos/cat"]), /There is no object "cat"/);
});

test("object legal-hold keeps a version until it is turned off", async (t) => {
  const shell = await openShellWithBucket(t);
  await shell.store("bucket", "object-lock", "photos", "enable");
  await put(shell, "cat");
  const hold = (...words: string[]) => shell.store("object", "legal-hold", "photos/cat", ...words);
  assert.equal(await hold(), "The legal hold of photos/cat is off.\n");
  assert.equal(await hold("on"), "The legal hold of photos/cat is on.\n");
  const { version, legalHold } = JSON.parse(await hold("--json"));
  assert.equal(legalHold, true);
  const remove = ["object", "delete", "photos/cat", "--version", version, "--bypass-governance"];
  assert.match(await shell.fails(1, remove), /locked by a legal hold/);
  assert.match(await shell.fails(2, ["object", "legal-hold", "photos/cat", "maybe"]), /Write on or off/);
  assert.equal(await hold("off"), "The legal hold of photos/cat is off.\n");
  await shell.store(...remove);
});

test("bucket tags and object tags show, replace and clear tags; put --tag sets them", async (t) => {
  const shell = await openShellWithBucket(t);
  assert.equal(
    await shell.store("bucket", "tags", "photos", "team=web", "rule=a=b"),
    "team\tweb\nrule\ta=b\n",
  );
  assert.match(await shell.store("bucket", "info", "photos"), /^tag team\tweb\ntag rule\ta=b$/m);
  assert.deepEqual(JSON.parse(await shell.store("bucket", "tags", "photos", "--clear", "--json")).tags, {});
  const cleared = await shell.run(["bucket", "tags", "photos"]);
  assert.deepEqual([cleared.stdout, cleared.stderr], ["", "photos has no tags.\n"]);
  assert.deepEqual(await auditedActions(shell), ["change tags", "change tags"]);

  await shell.run(["object", "put", "photos/cat", "-", "--tag", "animal=cat", "--tag", "empty="], {
    input: "x",
  });
  const tags = async (...words: string[]) =>
    JSON.parse(await shell.store("object", "tags", "photos/cat", "--json", ...words)) as unknown;
  assert.deepEqual(await tags(), { name: "photos/cat", tags: { animal: "cat", empty: "" } });
  const { version } = JSON.parse(await shell.store("object", "head", "photos/cat", "--json"));
  assert.deepEqual(await tags("place=garden"), { name: "photos/cat", tags: { place: "garden" } });
  const head = JSON.parse(await shell.store("object", "head", "photos/cat", "--version", version, "--json"));
  assert.deepEqual(head.tags, { place: "garden" });
  assert.deepEqual(await tags("--clear"), { name: "photos/cat", tags: {} });
  await assertRefused(shell, 2, [
    [["object", "tags", "photos/cat", "place"], "needs a key and a value", "KEY=VALUE"],
    [["object", "tags", "photos/cat", "a=b", "a=c"], 'The tag "a" was given more than once'],
    [["object", "tags", "photos/cat", "a=b", "--clear"], "--clear cannot be combined"],
    [["object", "tags", "photos/cat", "a=?"], "a character that is not allowed"],
    [["object", "tags", "photos/cat", ...Array.from({ length: 11 }, (_, i) => `t${i}=`)], "at most 10"],
    [["object", "put", "photos/cat", "-", "--tag", "a"], "--tag needs a key and a value"],
  ]);
  assert.match(await shell.fails(1, ["object", "tags", "photos/none", "a=b"]), /There is no object "none"/);
});
