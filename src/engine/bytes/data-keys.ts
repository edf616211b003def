// Data keys of objects that are encrypted with the store's keys (SSE-S3). Each object has its own
// random data key, which a master key seals together with the names that it belongs to.
import { createCipheriv, createDecipheriv } from "node:crypto";
import type { Bucket } from "../../model/bucket.ts";
import { StoreError } from "../../model/errors.ts";
import type { StoreEncryption } from "../../model/object.ts";
import type { Context } from "../context.ts";
import type { MasterKey, MasterKeys } from "../master-keys.ts";
import type { KeySubject } from "./encryption.ts";
import type { DataKey } from "./sealed-blocks.ts";

const nonceBytes = 12;
const tagBytes = 16;
const dataKeyBytes = 32;

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
export async function currentMasterKey(context: Context): Promise<MasterKey> {
  return requireMasterKeys(context).current();
}

/** Returns a new data key, for one body or one upload. */
export function newDataKey(context: Pick<Context, "randomBytes">): DataKey {
  return { bytes: context.randomBytes(dataKeyBytes), use: "direct" };
}

export function sealDataKey(
  context: Pick<Context, "randomBytes">,
  master: MasterKey,
  dataKey: DataKey,
  subject: KeySubject,
): StoreEncryption {
  const nonce = context.randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", master.bytes, nonce);
  cipher.setAAD(encodeNames(master.id, subject));
  const sealedKey = Buffer.concat([nonce, cipher.update(dataKey.bytes), cipher.final(), cipher.getAuthTag()]);
  return { masterKey: master.id, scope: subject.scope, sealedKey };
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
  const found = requireMasterKeys(context).find(encryption.masterKey);
  const master = found instanceof Promise ? await found : found;
  if (master === undefined) {
    throw new StoreError("Damaged", {
      detail:
        `The object is encrypted with the master key ${encryption.masterKey}, which this store does not have: ` +
        "restore the store's documents from a backup.",
    });
  }
  return unseal(master, encryption, owner);
}

function unseal(master: MasterKey, { scope, sealedKey }: StoreEncryption, owner: KeyOwner): DataKey {
  try {
    const nonce = sealedKey.subarray(0, nonceBytes);
    const decipher = createDecipheriv("aes-256-gcm", master.bytes, nonce, { authTagLength: tagBytes });
    decipher.setAAD(encodeNames(master.id, { bucket: owner.bucket, key: owner.key, scope }));
    decipher.setAuthTag(sealedKey.subarray(-tagBytes));
    const bytes = decipher.update(sealedKey.subarray(nonceBytes, -tagBytes));
    decipher.final();
    if (bytes.length === dataKeyBytes) return { bytes, use: "direct" };
    throw new Error("a data key has 32 bytes");
  } catch (cause) {
    throw new StoreError("Damaged", {
      detail: "The stored record is damaged: its sealed data key cannot be opened.",
      cause,
    });
  }
}

/** Length prefixes distinguish ("ab", "c") from ("a", "bc"). */
function encodeNames(master: string, { bucket, key, scope }: KeySubject): Uint8Array {
  return Buffer.from(
    `store data key ${master} ${bucket.length}:${bucket}${key.length}:${key}${scope.length}:${scope}`,
  );
}
