// Locations of a store: an invalid location is refused, and the message omits its password.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Location, openStore } from "../../../src/index.ts";
import {
  formatLocation,
  redactConfigLine,
  redactUrl,
  withoutPasswords,
} from "../../../src/model/names/location.ts";
import { readStoreLocations } from "../../../src/script/config/store-location.ts";
import { ConfigError } from "../../../src/script/config/syntax/error.ts";
import { project } from "../../support/projects.ts";

const records = "postgres://store:hunter2@db/store";
const blobs = "s3://KEY:hunter2@host:7480/bucket";

test("openStore refuses an invalid location with a message that does not contain its password", async () => {
  const wrong: readonly [unknown, RegExp][] = [
    ["", /openStore needs a directory, "memory:", or \{ records/],
    [undefined, /openStore needs a directory/],
    [1, /openStore needs a directory/],
    [[records, blobs], /openStore needs a directory/],
    [records, /needs both URLs of a cluster/],
    [blobs, /needs both URLs of a cluster/],
    ["S3://KEY:hunter2@host/bucket", /needs both URLs of a cluster/],
    ["file:///tmp/store", /does not know "file:": it needs a directory.*begins with "\.\/"/],
    ["gs://KEY:hunter2@bucket/store", /does not know "gs:"/],
    ["https://KEY:hunter2@host/store", /does not know "https:"/],
    ["memory:store", /does not know "memory:"/],
    [{ records }, /needs "blobs" too: s3:/],
    [{ blobs }, /needs "records" too: postgres:/],
    [{ records: 1, blobs }, /"records" must be a string/],
    [{ records: "mysql://a:hunter2@b/c", blobs }, /"records" must begin with postgres:\/\//],
    [{ records: "postgres://", blobs }, /"records" names no host/],
    [{ records, blobs: "/mnt/hunter2" }, /"blobs" must begin with s3:\/\/ or file:\/\/\//],
    [{ records, blobs: "file://mnt" }, /"blobs" must have three slashes/],
    [{ records, blobs: "s3://host/bucket" }, /"blobs" has no key and secret/],
    [{ records, blobs: "s3://KEY:hunter2@host" }, /"blobs" names no host with a bucket/],
    [{ records, blobs, reads: "always" }, /"reads" must be "usual" or "strict"/],
    [{ records, blobs, pool: 0 }, /"pool" must be a whole number/],
    [{ records, blobs, cache: "/var/cache" }, /"cache" must be \{ directory: "\/folder", size: bytes \}/],
    [
      { records, blobs, cache: { directory: "cache", size: 2 ** 40 } },
      /"cache.directory" must be the absolute/,
    ],
    [{ records, blobs, cache: { directory: "/c", size: 2 ** 29 } }, /"cache.size" must be at least 1 GiB/],
    [{ records, blobs, cache: { directory: "/c", size: "1GiB" } }, /"cache.size" must be at least 1 GiB/],
    [{ records, blobs, cache: { directory: "/c", size: 2 ** 40, age: 1 } }, /the field "cache.age"/],
    [{ records, blobs, bytes: 1 }, /does not know the field "bytes"/],
  ];
  for (const [location, says] of wrong) {
    const error = await openStore(location as Location).catch((reason: unknown) => reason);
    assert.ok(error instanceof TypeError, String(says));
    assert.match(error.message, says);
    assert.doesNotMatch(error.message, /hunter2/);
  }
});

test("a location is displayed with its scheme, hosts and path only", () => {
  const shown = {
    [records]: "postgres://db/store",
    [blobs]: "s3://host:7480/bucket",
    "postgres://u:p@db1:5432,db2:5433,[::1]:5434/store?sslmode=require":
      "postgres://db1:5432,db2:5433,[::1]:5434/store",
    "postgresql://u:p/q@r@db": "postgresql://db",
    "postgres://store:hunter2": "postgres://…",
    "postgres://db/store?password=hunter2": "postgres://db/store",
    "file:///mnt/a b@c": "file:///mnt/a b@c",
  };
  for (const [place, expected] of Object.entries(shown)) assert.equal(redactUrl(place), expected);
  assert.equal(formatLocation({ records, blobs }), "postgres://db/store and s3://host:7480/bucket");
  assert.equal(formatLocation("/data"), "/data");
});

test("a password with any characters is removed from a displayed location and from text", () => {
  const letters = fc.string({
    unit: fc.constantFrom(..."abXY09:/?#[]@!$&'()*+,;= %\"".split("")),
    maxLength: 8,
  });
  fc.assert(
    fc.property(letters, (middle) => {
      const password = `Q${middle}Q`;
      const place = `postgres://store:${password}@db/store`;
      assert.ok(!redactUrl(place).includes(password));
      assert.ok(!withoutPasswords(`Cannot reach ${place}: it is away`).includes(password));
      const line = `records = ${JSON.stringify(place)} # ours`;
      assert.equal(redactConfigLine(line).length, line.length);
      assert.ok(!redactConfigLine(line).includes(password));
    }),
  );
});

const least = 'name = "photos"\nmain = "src/index.ts"\ncompatibility_date = "2026-11-01"\n';

test("a store's location is read from TOML and JSON configurations even if other fields are invalid", async (t) => {
  const { read, write } = await project(t);
  const places = { records: "postgres://store@db/store", blobs: "file:///mnt/store", reads: "strict" };
  const toml = Object.entries(places).map(([key, value]) => `${key} = "${value}"\n`);
  const json = JSON.stringify({
    name: "photos",
    main: "src/index.ts",
    compatibility_date: "2026-11-01",
    ...places,
  });
  assert.deepEqual((await read("store.toml", least + toml.join(""))).storeLocations, places);
  assert.deepEqual((await read("store.json", json)).storeLocations, places);
  assert.equal((await read("plain.toml", least)).storeLocations, undefined);
  const { fault: _, ...alone } = readStoreLocations(
    await write("broken.toml", `nonsense = 1\n${toml.join("")}`),
  )!;
  assert.deepEqual(alone, places);
  assert.equal(readStoreLocations(await write("other.toml", "no toml at all")), undefined);
});

test("an invalid location in a configuration is reported with line and column, without the password", async (t) => {
  const { refused, write } = await project(t);
  const rows: readonly [text: string, at: string, says: string][] = [
    ["records = 1\n", "4:11", '"records" must be a string, not a number.'],
    ['records = "mysql://a:hunter2@b/c"\n', "4:11", '"records" must begin with postgres://.'],
    ['records = "postgres:a:hunter2"\n', "4:11", '"records" must begin with postgres://.'],
    ['records = "hunter2"\n', "4:11", '"records" must begin with postgres://.'],
    ['blobs = "s3://a:hunter2"\n', "4:9", '"blobs" has no key and secret in it.'],
    ["blobs = 's3://KEY:hunter2@host'\n", "4:9", '"blobs" names no host with a bucket.'],
    ['blobs = ["s3://KEY:hunter2@host/a"]\n', "4:9", '"blobs" must be a string, not a list.'],
    ['reads = "never"\n', "4:9", '"reads" must be "usual" or "strict".'],
    [`reads = true\n`, "4:9", '"reads" must be a string'],
    [`record = "${records}"\n`, "4:1", "did you mean records?"],
    [`records = "${records}\n`, "4:", ""],
    [`records = ${records}\n`, "4:", ""],
  ];
  for (const [text, at, says] of rows) {
    const errors = [await refused("store.toml", least + text)];
    // Commands that only need the location report the same errors.
    if (!text.startsWith("record ")) {
      const file = await write("alone.toml", least + text);
      errors.push(await caught(() => readStoreLocations(file)));
    }
    for (const { message } of errors) {
      assert.match(message, new RegExp(`^(?:store|alone|\\S*)\\.toml:${at}`), message);
      assert.ok(message.includes(says), message);
      assert.doesNotMatch(message, /hunter2/);
    }
  }
  const oneLine = `{"name": 1, "records": "${records}", "blobs": "s3://a:hunter2"}`;
  const { message } = await refused("store.json", oneLine);
  assert.match(message, /"name" must be a string/);
  assert.doesNotMatch(message, /hunter2/);
});

async function caught(work: () => unknown): Promise<ConfigError> {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error;
  }
  return assert.fail("it was taken");
}
