// A backup of encrypted objects is encrypted, and a restore with the secret key can read them.
import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { backUpStore, restoreStore, verifyBackup } from "../../../src/maintenance.ts";
import { openEngine } from "../../../src/open.ts";
import { collect } from "../../support/bytes.ts";
import { openPlaces } from "./scene.ts";

const sizes = [10, 20_000, 300_000];
const bytesOf = (size: number) => Buffer.alloc(size, "a secret in plain text; ");

test("encrypted objects stay encrypted in a backup and are readable after a restore", async (t) => {
  const { data, backup, restored } = await openPlaces(t);
  const { engine } = await openEngine(data, { encryption: "always" });
  await engine.createBucket("photos");
  for (const size of sizes) await engine.put("photos", `${size}`, bytesOf(size));
  await engine.encryption.rotate();
  await engine.close();
  await backUpStore(data, backup);
  assert.deepEqual((await verifyBackup(backup)).damages, []);
  assert.deepEqual(filesWith(backup, "a secret in plain text"), []);
  await restoreStore(backup, restored);
  cpSync(join(data, "secret.key"), join(restored, "secret.key"));
  const { engine: again } = await openEngine(restored);
  t.after(() => again.close());
  for (const size of sizes) {
    const found = await again.get("photos", `${size}`);
    assert.ok(found.outcome === "found");
    assert.deepEqual(await collect(found.bytes.chunks()), bytesOf(size));
  }
  assert.deepEqual((await again.verify()).damages, []);
});

function filesWith(directory: string, text: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => join(directory, name))
    .filter((file) => statSync(file).isFile() && readFileSync(file).includes(text));
}
