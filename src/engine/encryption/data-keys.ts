// Data keys of objects that are encrypted with the store's keys (SSE-S3). Each object has its own data
// key, derived from a seed and the names that it belongs to. A master key seals the seed.
import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import type { Bucket } from "../../model/bucket.ts";
import { StoreError } from "../../model/errors.ts";
import type { StoreEncryption } from "../../model/object.ts";
import type { Context } from "../context.ts";
import type { MasterKey, MasterKeys } from "../master-keys.ts";
import type { KeySubject } from "./customer-keys.ts";
import { openKey, sealKey } from "./key-sealing.ts";
import { isSealedSeed, type KeySeed } from "./key-seeds.ts";
import type { DataKey } from "./sealed-blocks.ts";

/** The names of a data key, without the scope, which the record contains. */
export type KeyOwner = Omit<KeySubject, "scope">;

/** Whether a write without a customer's key is encrypted with the store's key. */
export function isStoreEncrypted(
  { encryption }: Context,
  bucket: Bucket,
  requested: "store" | undefined,
): boolean {
  return (
    requested !== undefined || bucket.settings.encryption !== undefined || encryption?.encrypt === "always"
  );
}

export function requireMasterKeys({ encryption }: Context): MasterKeys {
  if (encryption !== undefined) return encryption.masterKeys;
  throw new StoreError("InvalidBucketState", {
    detail: "This store was opened without encryption keys, so it can neither encrypt nor decrypt.",
  });
}

/** Returns the current master key. Asked for again at the commit, because it may change meanwhile. */
export function currentMasterKey(context: Context): MasterKey | Promise<MasterKey> {
  return requireMasterKeys(context).current();
}

/** A new data key, for one body or one upload. */
export interface NewDataKey {
  readonly dataKey: DataKey;
  /** Returns the fields that a record needs for finding the key again. */
  seal(master: MasterKey): StoreEncryption;
}

export function createDataKey({ keySeeds }: Pick<Context, "keySeeds">, subject: KeySubject): NewDataKey {
  const seed = keySeeds.current();
  return {
    dataKey: deriveDataKey(seed, subject),
    seal: (master) => ({
      masterKey: master.id,
      scope: subject.scope,
      sealedKey: keySeeds.seal(seed, master),
    }),
  };
}

/** Seals the key of a stored object or upload with another master key. Its data key stays the same. */
export async function resealDataKey(
  context: Context,
  encryption: StoreEncryption,
  owner: KeyOwner,
  master: MasterKey,
): Promise<StoreEncryption> {
  const { scope, sealedKey } = encryption;
  if (isSealedSeed(sealedKey)) {
    const seed = await openSeed(context, encryption);
    return { masterKey: master.id, scope, sealedKey: context.keySeeds.seal(seed, master) };
  }
  const { bytes } = await openDataKey(context, encryption, owner);
  const names = encodeNames(master.id, { ...owner, scope });
  return { masterKey: master.id, scope, sealedKey: sealKey(context, master, bytes, names) };
}

/** Opened data keys of records that the adapter caches, with the names that they belong to. */
const openedKeys = new WeakMap<StoreEncryption, KeyOwner & { readonly dataKey: DataKey }>();

/** Opens the data key of a stored object or upload. Returns it without a promise if it is cached. */
export function openDataKey(
  context: Context,
  encryption: StoreEncryption,
  owner: KeyOwner,
): DataKey | Promise<DataKey> {
  const cached = openedKeys.get(encryption);
  if (cached !== undefined && cached.bucket === owner.bucket && cached.key === owner.key) {
    return cached.dataKey;
  }
  return openSealedKey(context, encryption, owner).then((dataKey) => {
    openedKeys.set(encryption, { bucket: owner.bucket, key: owner.key, dataKey });
    return dataKey;
  });
}

async function openSealedKey(
  context: Context,
  encryption: StoreEncryption,
  owner: KeyOwner,
): Promise<DataKey> {
  const subject = { bucket: owner.bucket, key: owner.key, scope: encryption.scope };
  if (isSealedSeed(encryption.sealedKey)) return deriveDataKey(await openSeed(context, encryption), subject);
  // Earlier versions sealed each data key itself, with the names that it belongs to.
  const master = await findMasterKey(context, encryption);
  const bytes = openKey(master, encryption.sealedKey, encodeNames(master.id, subject));
  return { bytes, use: "direct" };
}

async function openSeed(context: Context, encryption: StoreEncryption): Promise<KeySeed> {
  const { masterKey, sealedKey } = encryption;
  const opened = context.keySeeds.opened(masterKey, sealedKey);
  return opened ?? context.keySeeds.open(await findMasterKey(context, encryption), sealedKey);
}

async function findMasterKey(context: Context, { masterKey }: StoreEncryption): Promise<MasterKey> {
  const master = await requireMasterKeys(context).find(masterKey);
  if (master !== undefined) return master;
  throw new StoreError("Damaged", {
    detail:
      `The object is encrypted with the master key ${masterKey}, which this store does not have: ` +
      "restore the store's documents from a backup.",
  });
}

/**
 * SHA-512/256 cannot be extended, so that its hash of a secret and a text serves as a keyed hash. It
 * takes a third of the time of an HMAC.
 */
function deriveDataKey({ secret }: KeySeed, subject: KeySubject): DataKey {
  const names = encodeNames("", subject);
  const input = Buffer.allocUnsafe(secret.length + Buffer.byteLength(names));
  input.set(secret);
  input.write(names, secret.length);
  return { bytes: hash("sha512-256", input, "buffer"), use: "direct" };
}

/** Length prefixes distinguish ("ab", "c") from ("a", "bc"). */
function encodeNames(master: string, { bucket, key, scope }: KeySubject): string {
  return `store data key ${master} ${bucket.length}:${bucket}${key.length}:${key}${scope.length}:${scope}`;
}
