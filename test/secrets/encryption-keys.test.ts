// The master keys of a store: created on first use, shared between processes, and sealed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryRecords } from "../../src/memory/records.ts";
import { createEncryptionKeys } from "../../src/secrets/encryption-keys.ts";
import { loadSecretKey } from "../../src/secrets/master-key.ts";

const secretKey = Buffer.alloc(32, 7);

function scene() {
  const { documents } = createMemoryRecords();
  const clock = { time: 1000 };
  const open = (key: () => Uint8Array = () => secretKey) =>
    createEncryptionKeys(documents, key, () => clock.time);
  return { documents, clock, open };
}

test("the first key is created on first use, and two processes get the same", async () => {
  const { open } = scene();
  const [one, two] = [open(), open()];
  assert.deepEqual(await one.list(), []);
  const [first, second] = await Promise.all([one.current(), two.current()]);
  assert.equal(first.id, second.id);
  assert.deepEqual(first.bytes, second.bytes);
  assert.equal(first.bytes.length, 32);
  assert.deepEqual(await one.list(), [{ id: first.id, created: 1000, retired: undefined }]);
});

test("the stored document does not contain a key in the clear", async () => {
  const { documents, open } = scene();
  const { bytes } = await open().current();
  const [document] = await documents.list("encryption");
  for (const form of ["base64", "hex", "base64url"] as const) {
    assert.equal(document!.text.includes(Buffer.from(bytes).toString(form)), false);
  }
});

test("another process finds a new key at once and uses it within ten seconds", async () => {
  const { clock, open } = scene();
  const [one, two] = [open(), open()];
  const old = await two.current();
  await one.current();
  const id = await one.add();
  assert.equal((await one.current()).id, id);
  assert.equal((await two.find(id))?.id, id);
  const third = open();
  await third.current();
  await one.add();
  clock.time += 10_000;
  const [latest] = (await one.list()).slice(-1);
  assert.equal((await third.current()).id, latest!.id);
  assert.equal((await two.find(old.id))?.id, old.id);
  assert.equal(await two.find("0000000000000000"), undefined);
});

test("another process uses a new key also after the clock was set forward and back", async () => {
  const { clock, open } = scene();
  const [one, two] = [open(), open()];
  await one.current();
  clock.time += 365 * 86_400_000;
  await two.current();
  clock.time -= 365 * 86_400_000;
  const id = await one.add();
  assert.equal((await two.current()).id, id);
});

test("other keys are retired, and removed once they were retired long enough", async () => {
  const { clock, open } = scene();
  const keys = open();
  const first = await keys.current();
  await keys.add();
  await keys.retireOthers(0);
  assert.deepEqual(
    (await keys.list()).map(({ retired }) => retired),
    [1000, undefined],
  );
  assert.equal((await keys.find(first.id))?.id, first.id);
  clock.time = 5000;
  const latest = await keys.add();
  await keys.retireOthers(2000);
  assert.deepEqual((await keys.list()).map(({ id }) => id).includes(first.id), false);
  assert.equal((await keys.current()).id, latest);
  assert.equal(await open().find(first.id), undefined);
});

test("a wrong secret key says which key was used, and changes nothing", async () => {
  const { documents, open } = scene();
  const { id } = await open().current();
  const before = await documents.list("encryption");
  const other = open(() => Buffer.alloc(32, 8));
  await assert.rejects(async () => other.current(), {
    reason: "InvalidBucketState",
    message: new RegExp(`master key ${id} was sealed with another secret key.*STORE_SECRET_KEY`, "s"),
  });
  assert.deepEqual(await documents.list("encryption"), before);
});

test("a cluster without STORE_SECRET_KEY gets a message that says what to do", async () => {
  const { open } = scene();
  const cluster = { records: "postgres://db/store", blobs: "file:///blobs" };
  const keys = open(() => loadSecretKey(cluster, undefined));
  await assert.rejects(async () => keys.current(), {
    reason: "InvalidBucketState",
    message: /STORE_SECRET_KEY, which is not set.*openssl rand -hex 32/s,
  });
});

test("a damaged document of keys is reported as damage", async () => {
  const { documents, open } = scene();
  await open().current();
  const [document] = await documents.list("encryption");
  for (const text of ["", "{}", '{"current":"a","keys":[]}']) {
    const { revision } = (await documents.get("encryption", document!.name))!;
    await documents.put("encryption", document!.name, text, revision);
    await assert.rejects(async () => open().current(), { reason: "Damaged" });
  }
});
