// Authenticates a backup's manifest, which contains the digests of all copied databases. The key is
// derived from the store's secret key: a manifest written without that key is refused.
import { Buffer } from "node:buffer";
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Authentication, RestoreOptions } from "../../model/backup.ts";
import { BackupError } from "../../model/backup.ts";
import { parseSecretKey } from "../../secrets/seal.ts";
import { inspectFile } from "./copy-blob.ts";
import { type BackupLayout, snapshotLayout } from "./layout.ts";
import { createLinkCheck } from "./links.ts";
import type { Manifest, SealedManifest } from "./manifest.ts";

const keyInfo = "store backup manifest 1";

/** Computes an HMAC of all fields of the manifest, except `authentication` and `checksum`. */
export function computeAuthentication(manifest: Manifest | SealedManifest, secretKey: Uint8Array): string {
  const { authentication: _, checksum: __, ...content } = manifest as SealedManifest;
  const key = Buffer.from(hkdfSync("sha256", secretKey, "", keyInfo, 32));
  return createHmac("sha256", key).update(JSON.stringify(content)).digest("hex");
}

/** Adds the authentication, if the store has a key. */
export function authenticated<T extends Manifest>(manifest: T, key: Uint8Array | undefined): T {
  return key === undefined ? manifest : { ...manifest, authentication: computeAuthentication(manifest, key) };
}

/** Returns how the manifest was authenticated. Throws if the available key does not match it. */
export async function authenticate(
  backup: BackupLayout,
  manifest: Manifest,
  { secretKey, keyCompanion }: RestoreOptions,
): Promise<Authentication> {
  const isSealed = [...manifest.companions.map(({ name }) => name), ...manifest.elsewhere].some(
    (name) => name === keyCompanion,
  );
  if (manifest.authentication === undefined)
    return isSealed || secretKey !== undefined ? "missing" : "no key";
  if (secretKey !== undefined) {
    if (matches(manifest, secretKey)) return "verified";
    throw new BackupError(`The backup at "${backup.where}" was not made with the secret key that is set.`, [
      "The manifest was changed, or the backup is of another store.",
      "Set STORE_SECRET_KEY to the key of the store that was backed up. Nothing was written.",
    ]);
  }
  const own = await companionKey(backup, manifest, keyCompanion);
  if (own === undefined) return "unverified";
  if (matches(manifest, own)) return "own key";
  throw new BackupError(`The backup at "${backup.where}" was not made with the secret key inside it.`, [
    "The manifest or the key file was changed. Use another copy of the backup. Nothing was written.",
  ]);
}

function matches(manifest: Manifest, secretKey: Uint8Array): boolean {
  const expected = Buffer.from(computeAuthentication(manifest, secretKey), "hex");
  return timingSafeEqual(expected, Buffer.from(manifest.authentication!, "hex"));
}

/** Reads the key file inside the backup. Undefined if it is missing or its digest is wrong. */
async function companionKey(
  backup: BackupLayout,
  { snapshot, companions }: Manifest,
  keyCompanion: string | undefined,
): Promise<Uint8Array | undefined> {
  const entry = companions.find(({ name }) => name === keyCompanion);
  if (entry === undefined) return undefined;
  const path = join(snapshotLayout(backup, snapshot).companions, entry.name);
  createLinkCheck(backup.root)(path);
  if (!existsSync(path)) return undefined;
  const { sha256 } = await inspectFile(path, () => {});
  // A wrong digest is reported as damage when the file is read as part of the backup.
  return sha256 === entry.sha256 ? parseSecretKey(readFileSync(path, "utf8")) : undefined;
}
