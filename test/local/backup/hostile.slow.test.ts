// Backups that an attacker changed: nothing is written outside the data directory, no link is
// followed, and a manifest that was not made with the store's secret key is refused.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { DatabaseSync } from "@photostructure/sqlite";
import type { Manifest } from "../../../src/local/backup/manifest.ts";
import { existenceKey } from "../../../src/local/index/existence-index.ts";
import type { Database } from "../../../src/local/index/sqlite.ts";
import { blobContext, verifyText, withTextChecksum } from "../../../src/local/rows/checksum.ts";
import { bucketChecksum } from "../../../src/local/rows/checksummed-rows.ts";
import { backUpStore, restoreStore, verifyBackup } from "../../../src/maintenance.ts";
import { BackupError, type RestoreOptions } from "../../../src/model/backup.ts";
import { everythingIn, fillStore, openPlaces, type Places } from "./scene.ts";

const secretKey = Buffer.from("ab".repeat(32), "hex");
const keyCompanion = "secret.key";

type Changing = { -readonly [name in keyof Manifest]: Manifest[name] };

async function backedUp(t: TestContext, options: { readonly key?: boolean } = {}): Promise<Places> {
  const places = await openPlaces(t);
  await fillStore(places.data);
  const key = options.key === true ? { secretKey: () => secretKey } : {};
  await backUpStore(places.data, places.backup, { companions: [keyCompanion], ...key });
  return places;
}

/** Rewrites the manifest with a valid checksum, which needs no secret key. */
function changeManifest(backup: string, change: (manifest: Changing) => void): void {
  const path = join(backup, "manifest.json");
  const { checksum: _, ...manifest } = JSON.parse(readFileSync(path, "utf8"));
  change(manifest);
  const checksum = createHash("sha256").update(JSON.stringify(manifest)).digest("hex");
  writeFileSync(path, JSON.stringify({ ...manifest, checksum }));
}

function manifestOf(backup: string): Manifest {
  return JSON.parse(readFileSync(join(backup, "manifest.json"), "utf8"));
}

function snapshotOf(backup: string): string {
  return join(backup, "snapshots", manifestOf(backup).snapshot);
}

/** Changes a database of the backup, and the manifest to match. */
function changeDatabase(backup: string, path: string, change: (database: Database) => void): void {
  const database = new DatabaseSync(path);
  change(database);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE");
  database.close();
  const bytes = readFileSync(path);
  const entry = { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
  changeManifest(backup, (manifest) => {
    if (path.endsWith("registry.db")) manifest.registry = entry;
    else
      manifest.buckets = manifest.buckets.map((one) =>
        path.includes(one.id) ? { ...one, database: entry } : one,
      );
  });
}

/** Checks that the restore is refused with this message and writes nothing. */
async function assertRefused({ backup, restored }: Places, words: RegExp, options: RestoreOptions = {}) {
  const around = () => readdirSync(dirname(dirname(restored))).concat(readdirSync(dirname(restored)));
  const before = around();
  await assert.rejects(restoreStore(backup, restored, { keyCompanion, ...options }), (error) => {
    assert.ok(error instanceof BackupError, String(error));
    assert.match(`${error.message}\n${error.hints.join("\n")}`, words);
    return true;
  });
  assert.ok(!existsSync(restored), "no data directory was made");
  assert.deepEqual(around(), before, "nothing was written beside it");
}

const outside = "../../escaped";

for (const [what, change] of Object.entries<(manifest: Changing) => void>({
  "a companion's name leads outside the directory": (manifest) => {
    manifest.companions = manifest.companions.map((one) => ({ ...one, name: outside }));
  },
  "a companion is named like a file of the store": (manifest) => {
    manifest.companions = manifest.companions.map((one) => ({ ...one, name: "registry.db-wal" }));
  },
  "a bucket's id leads outside the directory": (manifest) => {
    manifest.buckets = manifest.buckets.map((one) => ({ ...one, id: outside }));
  },
  "two buckets have the same id": (manifest) => {
    manifest.buckets = manifest.buckets.map((one) => ({ ...one, id: manifest.buckets[0]!.id }));
  },
  "a bucket's name is invalid": (manifest) => {
    manifest.buckets = manifest.buckets.map((one) => ({ ...one, name: outside }));
  },
  "the snapshot leads outside the directory": (manifest) => {
    manifest.snapshot = outside;
  },
  "a digest is missing": (manifest) => {
    manifest.registry = { bytes: 1 } as Manifest["registry"];
  },
  "a list is not an array": (manifest) => {
    manifest.buckets = {} as unknown as Manifest["buckets"];
  },
})) {
  test(`a manifest in which ${what} is refused, and nothing is written`, async (t) => {
    const places = await backedUp(t);
    changeManifest(places.backup, change);
    await assertRefused(places, /The backup is not valid: "\w+" in ".*manifest\.json"/);
    await assert.rejects(verifyBackup(places.backup), BackupError);
  });
}

test("a backup whose registry and manifest have different bucket ids is refused, and nothing is written", async (t) => {
  for (const id of ["../../../escaped", "0123456789abcdef"]) {
    const places = await backedUp(t);
    changeDatabase(places.backup, join(snapshotOf(places.backup), "registry.db"), (registry) => {
      const row = registry.prepare("SELECT * FROM buckets WHERE name = 'empty'").get() as never as Parameters<
        typeof bucketChecksum
      >[0];
      registry
        .prepare("UPDATE buckets SET id = ?, checksum = ? WHERE name = 'empty'")
        .run(id, bucketChecksum({ ...row, id }));
    });
    await assertRefused(places, /registry\.db" names other buckets than the manifest/);
    const { damages } = await verifyBackup(places.backup);
    assert.match(damages.map(({ what }) => what).join("\n"), /names other buckets than the manifest/);
  }
});

test("a backup with a record that references a body outside its bucket is refused", async (t) => {
  const places = await backedUp(t);
  const { backup, restored } = places;
  const [photos, empty] = ["photos", "empty"].map(
    (name) => manifestOf(backup).buckets.find((one) => one.name === name)!.id,
  );
  const path = join(snapshotOf(backup), "buckets", photos!, "records.db");
  changeDatabase(backup, path, (database) => {
    const find = database.prepare("SELECT blob, stored, record FROM objects WHERE blob LIKE '%.0'");
    const { blob, stored, record } = find.get() as { blob: string; stored: number; record: string };
    const foreign = blob.replace(photos!, empty!);
    const text = verifyText(record, "the record", blobContext(blob, stored));
    const checked = withTextChecksum(text, blobContext(foreign, stored));
    database.prepare("UPDATE objects SET blob = ?, record = ? WHERE blob = ?").run(foreign, checked, blob);
    database.prepare("UPDATE blobs SET id = ? WHERE id = ?").run(foreign, blob);
    const places = [existenceKey.blob(foreign), existenceKey.blob(blob)];
    database.prepare("UPDATE witness SET place = ? WHERE place = ?").run(...places);
  });
  await assert.rejects(restoreStore(backup, restored), {
    name: "BackupError",
    message: /is not the id of a body in this bucket/,
  });
  assert.deepEqual(readdirSync(join(restored, "buckets", empty!, "blobs")), []);
});

test("symbolic links inside a backup are refused", async (t) => {
  const places = await backedUp(t);
  const { backup } = places;
  const id = manifestOf(backup).buckets.find(({ name }) => name === "photos")!.id;
  const snapshot = snapshotOf(backup);
  const links = [
    join(backup, "manifest.json"),
    join(backup, "lock"),
    join(backup, "blobs"),
    join(backup, "blobs", id),
    join(snapshot, "companions"),
    join(snapshot, "companions", keyCompanion),
    join(snapshot, "registry.db"),
    join(snapshot, "buckets", id, "records.db"),
    snapshot,
  ];
  for (const path of links) {
    renameSync(path, `${backup}.moved`);
    symlinkSync(`${backup}.moved`, path);
    await assert.rejects(restoreStore(backup, places.restored, { keyCompanion }), {
      name: "BackupError",
      message: `The backup is not valid: "${path}" is not a plain file or folder.`,
    });
    if (dirname(path) === backup)
      await assert.rejects(backUpStore(places.data, backup), { message: /is not a plain file or folder/ });
    await rm(path);
    renameSync(`${backup}.moved`, path);
    await rm(places.restored, { recursive: true, force: true });
  }
  await restoreStore(backup, places.restored);
  assert.deepEqual(await everythingIn(places.restored), await everythingIn(places.data));
});

test("a backup made with a secret key is verified with that key, or with the key inside the backup", async (t) => {
  const { backup, restored } = await backedUp(t, { key: true });
  const verified = await verifyBackup(backup, { secretKey, keyCompanion });
  assert.deepEqual([verified.authentication, verified.damages], ["verified", []]);
  assert.equal((await verifyBackup(backup, { keyCompanion })).authentication, "own key");
  assert.equal((await verifyBackup(backup)).authentication, "unverified");
  assert.equal(
    (await restoreStore(backup, restored, { secretKey, keyCompanion })).authentication,
    "verified",
  );
});

test("a manifest that was changed without the secret key is refused if the key is available", async (t) => {
  const places = await backedUp(t, { key: true });
  changeManifest(places.backup, (manifest) => {
    manifest.made += 1;
  });
  await assertRefused(places, /was not made with the secret key that is set/, { secretKey });
  await assertRefused(places, /was not made with the secret key inside it/);
  const { damages } = await verifyBackup(places.backup, { secretKey, keyCompanion });
  assert.match(damages[0]!.what, /was not made with the secret key that is set/);
});

test("a backup made with another secret key is refused if a key is given", async (t) => {
  const places = await backedUp(t, { key: true });
  await assertRefused(places, /was not made with the secret key that is set/, {
    secretKey: Buffer.alloc(32),
  });
});

test("a backup without authentication is restored, and the report states that it has none", async (t) => {
  const { data, backup, restored } = await backedUp(t);
  assert.equal((await verifyBackup(backup, { secretKey, keyCompanion })).authentication, "missing");
  assert.equal((await restoreStore(backup, restored, { keyCompanion })).authentication, "missing");
  assert.deepEqual(await everythingIn(restored), await everythingIn(data));
});
