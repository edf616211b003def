// Upgrades from earlier schemas, and servers of earlier versions that still run after an upgrade.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { migrateCluster, openCluster } from "../../../src/cluster/open.ts";
import { migrations, schemaVersion } from "../../../src/cluster/schema/schema.ts";
import { encodeObject } from "../../../src/engine/codec/record-codec.ts";
import type { Mutation } from "../../../src/engine/records.ts";
import type { Protection } from "../../../src/model/bucket.ts";
import { inline, objectRecord, plain, putObject, randomHex } from "../../support/samples.ts";
import { type ClusterScene, useCluster } from "../scene.ts";

const cluster = useCluster();
const on: Protection = { versioning: "on" };
const lockRules = [{ id: "r", isEnabled: true, prefix: "", condition: { kind: "indefinite" } }] as const;

/** A server of an earlier version: the statements of that version, in a session of its own. */
interface EarlierServer {
  createBucket(name: string): Promise<void>;
  put(bucket: string, key: string, body: string): Promise<unknown>;
  putAll(bucket: string, keys: readonly string[]): Promise<unknown>;
  commit(bucket: string, ...mutations: object[]): Promise<unknown>;
  deleteBucket(name: string): Promise<unknown>;
}

/** Replaces the schema of the scene by an earlier one. */
async function downgrade(scene: ClusterScene, version: number): Promise<void> {
  await scene.ask("DROP SCHEMA store CASCADE");
  await scene.ask("CREATE SCHEMA store");
  await scene.ask("CREATE TABLE store.version (only_row integer, number integer, shelf text)");
  await scene.ask("INSERT INTO store.version VALUES (1, $1::integer, NULL)", version);
  for (const migration of migrations.slice(0, version)) await scene.ask(migration);
}

async function earlierServer(scene: ClusterScene): Promise<EarlierServer> {
  const [[process] = []] = await scene.ask("INSERT INTO store.processes (beat) VALUES (0) RETURNING id");
  const begin = "INSERT INTO store.sessions (process, last) VALUES ($1, 0) RETURNING id";
  const [[session] = []] = await scene.ask(begin, process);
  let number = 0;
  async function call(name: string, ...values: unknown[]): Promise<unknown> {
    const places = [session, ++number, ...values].map((_, i) => `$${i + 1}`);
    const [[outcome] = []] = await scene.ask(
      `SELECT store.${name}(${places.join(", ")})`,
      session,
      number,
      ...values,
    );
    return outcome;
  }
  return {
    async createBucket(name) {
      assert.equal(await call("create_bucket", name, 0, "Standard", "default"), "committed");
    },
    put(bucket, key, body) {
      const { version, size, ...rest } = objectRecord(key, { uploaded: 500 });
      const record = encodeObject({ version, size, ...rest });
      return call(
        "put",
        bucket,
        Buffer.from(key),
        null,
        version,
        size,
        record,
        Buffer.from(body),
        null,
        null,
      );
    },
    putAll(bucket, keys) {
      const records = keys.map((key) => objectRecord(key));
      const column = <T>(value: (record: (typeof records)[0]) => T) => records.map(value);
      return call(
        "put_all",
        bucket,
        column(() => null),
        column(({ version }) => version),
        column(({ size }) => size),
        column(encodeObject),
        column(() => null),
        column(() => null),
        column(({ key }) => Buffer.byteLength(key)),
        column(() => 0),
        Buffer.from(keys.join("")),
      );
    },
    commit: (bucket, ...mutations) =>
      call("commit", bucket, "[]", JSON.stringify(mutations), Buffer.from("a")),
    deleteBucket: (name) => call("delete_bucket", name),
  };
}

const deletion = { kind: "delete object", key: [0, 1] };
const cors = { kind: "cors", text: "[]" };

async function setting(scene: ClusterScene, name: "versioning" | "lockRules", value: unknown): Promise<void> {
  const { records } = await scene.open();
  const mutations: Mutation[] = [{ kind: "put setting", name, value }];
  assert.equal(await records.commit("kept", { mutations }), "committed");
}

for (const from of Array.from({ length: schemaVersion - 1 }, (_, i) => i + 1)) {
  test(`a migration from schema version ${from} keeps the objects, which can then be versioned`, async (t) => {
    const scene = await cluster.scene(t);
    await downgrade(scene, from);
    const earlier = await earlierServer(scene);
    await earlier.createBucket("kept");
    // A key with quotes and escapes: its time of upload is found in the stored record.
    const key = 'a",\\"1,5\u0000';
    assert.equal(await earlier.put("kept", key, "first"), "committed");
    const refused = new RegExp(`schema version ${from} .*Run: store migrate`);
    await assert.rejects(openCluster(scene.location), refused);
    assert.deepEqual(await migrateCluster(scene.location), { from, to: schemaVersion });
    const { records } = await scene.open();
    assert.deepEqual(plain((await records.objectWithBody("kept", key))?.body), inline("first"));
    assert.equal((await records.objectAt("kept", key, 500))?.record.key, key);
    assert.equal(await records.objectAt("kept", key, 499), undefined);
    assert.equal(await earlier.put("kept", "a", "of an earlier server"), "committed");

    await setting(scene, "versioning", "on");
    const record = objectRecord(key, { uploaded: 1000, isVersioned: true });
    const change = { mutations: [{ kind: "put object", record, body: inline("second") }] as const };
    assert.equal(await records.commit("kept", { ...change, protection: on }), "committed");
    assert.deepEqual(plain((await records.version("kept", key, "null"))?.body), inline("first"));
    assert.deepEqual(plain((await records.objectAt("kept", key, 999))?.body), inline("first"));
    assert.equal(await records.objectAt("kept", key, 499), undefined);
    const { noncurrentVersions } = await records.totals("kept");
    assert.equal(noncurrentVersions, 1);
  });
}

async function upgraded(t: TestContext): Promise<{ scene: ClusterScene; earlier: EarlierServer }> {
  const scene = await cluster.scene(t);
  const earlier = await earlierServer(scene);
  for (const name of ["kept", "plain"]) await earlier.createBucket(name);
  assert.equal(await earlier.put("kept", "a", "first"), "committed");
  return { scene, earlier };
}

for (const [name, value] of [
  ["versioning", "suspended"],
  ["lockRules", lockRules],
] as const) {
  test(`a server of an earlier version cannot write to a bucket with the setting ${name}`, async (t) => {
    const { scene, earlier } = await upgraded(t);
    await setting(scene, name, value);
    const refused = /replace this server by a newer version of Store/;
    await assert.rejects(earlier.put("kept", "a", "second"), refused);
    await assert.rejects(earlier.putAll("kept", ["a", "b"]), refused);
    await assert.rejects(earlier.commit("kept", deletion), refused);
    await assert.rejects(earlier.commit("kept", cors), refused);
    const { records } = await scene.open();
    assert.deepEqual(plain((await records.objectWithBody("kept", "a"))?.body), inline("first"));

    assert.equal(await earlier.put("plain", "a", "second"), "committed");
    assert.equal(await earlier.putAll("plain", ["a", "b"]), "committed");
    assert.equal(await earlier.commit("plain", deletion, cors), "committed");
    assert.equal((await records.totals("plain")).objects, 1);
    assert.equal(await earlier.commit("none", deletion), "no bucket");
  });
}

test("a server of an earlier version cannot delete a bucket that has only versions", async (t) => {
  const { scene, earlier } = await upgraded(t);
  await setting(scene, "versioning", "on");
  const { records } = await scene.open();
  const marker = {
    isDeleteMarker: true,
    key: "a",
    version: randomHex(),
    uploaded: 600,
    isVersioned: true,
  } as const;
  const mutations: Mutation[] = [{ kind: "put marker", marker }];
  assert.equal(await records.commit("kept", { mutations, protection: on }), "committed");
  assert.equal((await records.totals("kept")).objects, 0);
  assert.equal(await earlier.deleteBucket("kept"), "not empty");
  assert.equal(await earlier.deleteBucket("plain"), "committed");
  await assert.rejects(records.commit("plain", { mutations: [putObject("a")] }), /bucket does not exist/);
});
