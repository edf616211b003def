// `store quota`: sets, shows, lists and removes quotas of buckets and accounts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openShell, openShellWithBucket } from "../store.ts";

test("a bucket's quota is set, shown and removed, and a put beyond it says what to do", async (t) => {
  const shell = await openShellWithBucket(t);
  const shown = await shell.store("quota", "set", "photos", "--bytes", "1kB", "--objects", "2");
  assert.match(shown, /^size\t0 of 1000$/m);
  assert.match(shown, /^objects\t0 of 2$/m);
  const put = (key: string) => ["object", "put", `photos/${key}`, "-"] as const;
  const input = (size: number) => ({ input: Buffer.alloc(size) });
  assert.equal((await shell.run(put("a"), input(600))).code, 0);
  const refused = await shell.fails(1, put("b"), input(600));
  assert.match(refused, /quota is used up: delete objects and old versions or raise the quota/);
  assert.match(refused, /store quota show photos/);
  const json = JSON.parse(await shell.store("quota", "show", "photos", "--json")) as unknown;
  const usage = { bytes: 600, objects: 1 };
  assert.deepEqual(json, { bucket: "photos", quota: { bytes: 1000, objects: 2 }, usage });
  assert.equal(await shell.store("quota", "remove", "photos"), "Removed the quota of bucket photos.\n");
  assert.equal((await shell.run(put("b"), input(600))).code, 0);
  assert.match(await shell.fails(1, ["quota", "remove", "photos"]), /no quota to remove/);
  assert.match(await shell.store("audit", "--json"), /change quota/);
});

test("the quota of an account is listed beside those of buckets", async (t) => {
  const shell = await openShellWithBucket(t);
  await shell.store("quota", "set", "--account", "default", "--bytes", "1GiB");
  await shell.store("quota", "set", "photos", "--objects", "5");
  const listed = JSON.parse(await shell.store("quota", "list", "--json")) as unknown;
  const usage = { bytes: 0, objects: 0 };
  assert.deepEqual(listed, [
    { account: "default", quota: { bytes: 1024 ** 3 }, usage },
    { bucket: "photos", quota: { objects: 5 }, usage },
  ]);
  const table = await shell.store("quota", "list");
  assert.match(table, /^account\tdefault\t0\t1073741824\t0\tno limit$/m);
  assert.match(table, /^bucket\tphotos\t0\tno limit\t0\t5$/m);
});

test("wrong arguments of quota commands are refused, and nothing is changed", async (t) => {
  const shell = await openShellWithBucket(t);
  const refusals: [RegExp, ...string[]][] = [
    [/either a bucket or an account/, "set", "--bytes", "1GB"],
    [/either a bucket or an account/, "set", "photos", "--account", "team", "--bytes", "1GB"],
    [/needs --bytes SIZE, --objects N/, "set", "photos"],
    [/--bytes needs a size, not "many"/, "set", "photos", "--bytes", "many"],
    [/--objects needs a whole number/, "set", "photos", "--objects", "1.5"],
    [/Account name "No Team" is not valid/, "set", "--account", "No Team", "--bytes", "1GB"],
  ];
  for (const [message, ...args] of refusals) assert.match(await shell.fails(2, ["quota", ...args]), message);
  assert.match(await shell.fails(1, ["quota", "set", "missing", "--bytes", "1GB"]), /There is no bucket/);
  assert.equal(await shell.store("quota", "list", "--json"), "[]\n");
});

test("key create sets rates, which list shows in JSON", async (t) => {
  const shell = await openShell(t);
  const rates = ["--requests-per-second", "100", "--bytes-per-second", "10MB"];
  const key = JSON.parse(await shell.store("key", "create", ...rates, "--json")) as { limits: unknown };
  assert.deepEqual(key.limits, { requestsPerSecond: 100, bytesPerSecond: 10_000_000 });
  const [listed] = JSON.parse(await shell.store("key", "list", "--json")) as { limits: unknown }[];
  assert.deepEqual(listed?.limits, key.limits);
  const zero = ["key", "create", "--requests-per-second", "0"];
  assert.match(await shell.fails(2, zero), /A rate is a whole number per second, at least 1/);
});
