// Backups to a repository on an S3 service: what is restored, what is sent, what is refused.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openStore } from "../../../src/index.ts";
import {
  backUpStoreOffsite,
  listBackups,
  restoreStoreOffsite,
  verifyBackupOffsite,
} from "../../../src/maintenance.ts";
import { BackupError } from "../../../src/model/backup.ts";
import { lockRepository } from "../../../src/repository/lock.ts";
import { openRepository } from "../../../src/repository/repository.ts";
import { parseKeepRule } from "../../../src/repository/retention.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { everythingIn, fillStore, openPlaces } from "../backup/scene.ts";
import { changeObject, type OffsiteScene, openOffsiteScene, repositoryAt } from "./scene.ts";

const withKey = { companions: ["secret.key"] };
const key = { kind: "key", bytes: Buffer.alloc(32, 5) } as const;

function refusal(message: RegExp, hint = /./) {
  return (error: unknown) =>
    error instanceof BackupError && message.test(error.message) && error.hints.some((one) => hint.test(one));
}

async function put(data: string, name: string, size: number): Promise<void> {
  const store = await openStore(data);
  await store.bucket("photos").put(name, sampleBytes(size));
  await store.close();
}

test("a body of several pieces is restored, and an interrupted one is not sent again from its start", async (t) => {
  const { data, restored, to, service } = await openOffsiteScene(t);
  await put(data, "large", 20_000_000);
  const abort = new AbortController();
  let sent = 0;
  const progress = {
    expect() {},
    advance(bytes: number) {
      sent += bytes;
      if (sent > 15_000_000) abort.abort();
    },
  };
  await assert.rejects(backUpStoreOffsite(data, to, { progress, signal: abort.signal }), /aborted/);
  await assert.rejects(restoreStoreOffsite(to, restored), refusal(/never finished/, /Run it again/));
  assert.ok(!existsSync(restored));
  const first = (await service.keys()).filter((name) => name.includes("/blobs/"));
  assert.notEqual(first.length, 0);
  const puts = new Map(await Promise.all(first.map(async (name) => [name, await uploaded(name)] as const)));
  await backUpStoreOffsite(data, to);
  for (const [name, version] of puts) assert.equal(await uploaded(name), version, `${name} was sent once`);
  await restoreStoreOffsite(to, restored);
  assert.deepEqual(await everythingIn(restored), await everythingIn(data));

  async function uploaded(name: string): Promise<string | undefined> {
    return (await service.engine.head(service.bucket, name))?.version;
  }
});

test("each backup stays as it was, until the rule removes it with the bodies that only it needs", async (t) => {
  const scene = await openOffsiteScene(t);
  const { data, restored, to, service } = scene;
  const first = await backUpStoreOffsite(data, to);
  const before = await everythingIn(data);
  await put(data, "file", 400_000);
  const second = await backUpStoreOffsite(data, to);
  assert.equal(second.copiedFiles, 1);
  assert.deepEqual(
    (await listBackups(to)).map(({ backup }) => backup),
    [first.backup, second.backup],
  );
  await restoreStoreOffsite(to, restored, { backup: first.backup });
  assert.deepEqual(await everythingIn(restored), before);
  await rm(restored, { recursive: true });
  await restoreStoreOffsite(to, restored, { at: second.made - 1 });
  assert.deepEqual(await everythingIn(restored), before);
  await rm(restored, { recursive: true });
  const count = (await service.keys()).length;
  const third = await backUpStoreOffsite(data, to, { keep: parseKeepRule("1d") });
  assert.deepEqual([third.keptBackups, third.removedBackups], [1, 2]);
  assert.ok((await service.keys()).length < count);
  await restoreStoreOffsite(to, restored);
  assert.deepEqual(await everythingIn(restored), await everythingIn(data));
  await assert.rejects(verifyBackupOffsite(to, { backup: first.backup }), refusal(/no backup "/, /list/));
  await assert.rejects(verifyBackupOffsite(to, { at: first.made }), refusal(/no backup that old/));
});

test("an encrypted backup reveals nothing, and only its key opens it", async (t) => {
  const { data, restored, service, to } = await openOffsiteScene(t);
  await backUpStoreOffsite(data, { ...to, key }, withKey);
  for (const name of await service.keys()) {
    assert.match(name, /^store\/[0-9a-zA-Z/.TZ-]+$/);
    const found = await service.engine.get(service.bucket, name);
    assert.ok(found.outcome === "found");
    const chunks: Uint8Array[] = [];
    for await (const chunk of found.bytes.chunks()) chunks.push(Buffer.from(chunk));
    const bytes = Buffer.concat(chunks);
    for (const text of ["photos", "garden", "a few bytes", "SQLite", "abababab"])
      assert.ok(!bytes.includes(text), `${name} contains "${text}"`);
  }
  const wrong = { ...to, key: { kind: "key", bytes: Buffer.alloc(32, 6) } as const };
  const passphrase = { kind: "passphrase", read: async () => "not a key file" } as const;
  await assert.rejects(restoreStoreOffsite(wrong, restored), refusal(/key does not open .* wrong/));
  await assert.rejects(restoreStoreOffsite(to, restored), refusal(/are encrypted/, /--key-file/));
  await assert.rejects(
    restoreStoreOffsite({ ...to, key: passphrase }, restored),
    refusal(/made with a key file/),
  );
  await assert.rejects(backUpStoreOffsite(data, to), refusal(/are encrypted/));
  assert.ok(!existsSync(restored));
  await restoreStoreOffsite({ ...to, key }, restored, { keyCompanion: "secret.key" });
  assert.deepEqual(await everythingIn(restored), await everythingIn(data));
});

test("a passphrase opens the backups that it was made with", async (t) => {
  const { data, restored, to } = await openOffsiteScene(t);
  const withPassphrase = (text: string) => ({
    ...to,
    key: { kind: "passphrase", read: async () => text } as const,
  });
  await backUpStoreOffsite(data, withPassphrase("correct horse battery"));
  await assert.rejects(
    restoreStoreOffsite(withPassphrase("wrong"), restored),
    refusal(/passphrase does not open/),
  );
  await restoreStoreOffsite(withPassphrase("correct horse battery"), restored);
  assert.deepEqual(await everythingIn(restored), await everythingIn(data));
});

for (const [kind, options] of Object.entries({ plain: {}, encrypted: { key } })) {
  test(`changed, swapped, cut and missing objects are found (${kind})`, async (t) => {
    const scene = await openOffsiteScene(t);
    const { data, restored, service } = scene;
    const to = { ...scene.to, ...options };
    await backUpStoreOffsite(data, to);
    const names = (await service.keys()).filter(
      (name) => name.includes("/blobs/") || name.includes("/snapshots/"),
    );
    for (const name of names) await assertFound(scene, to, name, (bytes) => flip(bytes));
    const [first, second] = names.filter((name) => name.includes("/blobs/"));
    await assertFound(scene, to, first!, (bytes) => bytes.subarray(0, -1));
    const other = await bytesOf(scene, second!);
    await assertFound(scene, to, first!, () => other);
    await service.engine.delete(service.bucket, [first!]);
    assert.equal((await verifyBackupOffsite(to)).damages.length, 1);
    await assert.rejects(restoreStoreOffsite(to, restored), refusal(/damaged.*is missing/));
    await assert.rejects(openStore(restored), /not (complete|finished)/);
    // The next backup sends the missing body again.
    await backUpStoreOffsite(data, to);
    assert.deepEqual((await verifyBackupOffsite(to)).damages, []);
  });
}

async function assertFound(
  scene: OffsiteScene,
  to: Parameters<typeof verifyBackupOffsite>[0],
  name: string,
  change: (bytes: Buffer) => Uint8Array,
): Promise<void> {
  const whole = await bytesOf(scene, name);
  await changeObject(scene, name, change);
  // A list of bodies is only needed to remove bodies, and is not read by a restore.
  if (!name.endsWith(".bodies")) assert.notDeepEqual((await verifyBackupOffsite(to)).damages, [], name);
  await changeObject(scene, name, () => whole);
}

async function bytesOf(scene: OffsiteScene, name: string): Promise<Buffer> {
  let found = Buffer.alloc(0);
  await changeObject(scene, name, (bytes) => {
    found = Buffer.from(bytes);
    return bytes;
  });
  return found;
}

function flip(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  changed[changed.length >> 1]! ^= 1;
  return changed;
}

test("a prefix with other objects or with backups of another store is refused", async (t) => {
  const { data, restored, service, to } = await openOffsiteScene(t);
  await service.engine.put(service.bucket, "other/letter.txt", Buffer.from("Dear"));
  const other = repositoryAt(service, "/other");
  await assert.rejects(backUpStoreOffsite(data, other), refusal(/other objects, such as "letter.txt"/));
  await assert.rejects(restoreStoreOffsite(other, restored), refusal(/other objects/));
  await assert.rejects(restoreStoreOffsite(to, restored), refusal(/There are no backups at/));
  await backUpStoreOffsite(data, to);
  const second = (await openPlaces(t)).data;
  await fillStore(second);
  await assert.rejects(backUpStoreOffsite(second, to), refusal(/backups of another store/));
});

test("a second backup at the same time is refused, and a lock of a dead owner is taken over", async (t) => {
  const { data, to } = await openOffsiteScene(t);
  const first = await backUpStoreOffsite(data, to);
  const repository = await openRepository(to);
  const held = await lockRepository(repository.objects, { owner: "of another machine" });
  await assert.rejects(
    backUpStoreOffsite(data, to),
    refusal(/Another backup to .* is running/, /10 minutes/),
  );
  assert.deepEqual(
    (await listBackups(to)).map(({ backup }) => backup),
    [first.backup],
  );
  // The same owner takes its lock over; the earlier process then notices that it lost it.
  const taken = await lockRepository(repository.objects, { owner: "of another machine" });
  await assert.rejects(held.renew(), refusal(/Another backup/));
  await held.release();
  await taken.renew();
  await taken.release();
  await backUpStoreOffsite(data, to);
  repository.close();
});

test("a lock that was not renewed for its whole time is free", async (t) => {
  const { to, data } = await openOffsiteScene(t);
  await backUpStoreOffsite(data, to);
  const { objects, close } = await openRepository(to);
  let now = 0;
  const old = await lockRepository(objects, { owner: "a", expiry: 1000, now: () => now });
  now = 501;
  assert.throws(() => old.check(), refusal(/was lost/));
  await old.renew();
  old.check();
  await old.release();
  close();
});

test("a backup without the secret key does not contain it", async (t) => {
  const { data, restored, to, service } = await openOffsiteScene(t);
  await backUpStoreOffsite(data, to, { elsewhere: ["secret.key"] });
  assert.ok(!(await service.keys()).some((name) => name.includes("companion")));
  const { elsewhere, companions } = await restoreStoreOffsite(to, restored);
  assert.deepEqual([elsewhere, companions], [["secret.key"], []]);
  assert.ok(!existsSync(join(restored, "secret.key")));
});

test("nothing of a store is left in its staging folder, and a refused restore leaves no folder", async (t) => {
  const { data, restored, to } = await openOffsiteScene(t);
  await backUpStoreOffsite(data, to, { ...withKey, secretKey: () => Buffer.alloc(32, 0xab) });
  assert.deepEqual((await readdir(join(data, "backup.staging"))).sort(), ["lock", "owner"]);
  const secretKey = Buffer.alloc(32, 1);
  await assert.rejects(
    restoreStoreOffsite(to, restored, { secretKey }),
    refusal(/not made with the secret key/),
  );
  assert.ok(!existsSync(restored));
});
