// The new data key of a body, and the fields of its record that keep the key: sealed with a
// customer's key or with the store's master key.
import type { Bucket } from "../../model/bucket.ts";
import { StoreError } from "../../model/errors.ts";
import type { Checksums, Encryption } from "../../model/object.ts";
import type { Context } from "../context.ts";
import type { WriteOptions } from "../engine.ts";
import { type KeySubject, sealNewKey } from "./customer-keys.ts";
import { createDataKey, currentMasterKey, isStoreEncrypted } from "./data-keys.ts";
import type { DataKey } from "./sealed-blocks.ts";
import { sealChecksums } from "./sealed-checksums.ts";

/** The fields of a record that depend on the encryption. */
export interface SealedFields {
  readonly encryption: Encryption;
  /** Given if the record must not contain the checksums of the plain bytes. */
  readonly checksums?: Checksums;
}

export interface BodyKey {
  readonly dataKey: DataKey;
  /** "random": the etag must not reveal the MD5 of the plain bytes. */
  readonly etag: "md5" | "random";
  /** Called at the commit, so that a rotated master key is used as soon as possible. */
  seal(checksums?: Checksums): SealedFields | Promise<SealedFields>;
}

type KeyOptions = Pick<WriteOptions, "customerKey" | "encryption">;

export function needsBodyKey(context: Context, bucket: Bucket, options: KeyOptions): boolean {
  return options.customerKey !== undefined || isStoreEncrypted(context, bucket, options.encryption);
}

/**
 * Creates a data key, without a promise if the master key is loaded. Throws before a body is received if
 * it could not be sealed.
 */
export function createBodyKey(
  context: Context,
  { customerKey, encryption }: KeyOptions,
  subject: KeySubject,
): BodyKey | Promise<BodyKey> {
  if (customerKey === undefined) return createStoreKey(context, subject);
  if (encryption === undefined) return createCustomerKey(context, customerKey, subject);
  throw new StoreError("InvalidArgument", {
    detail: "Choose one encryption: with a customer key, or with the store's key.",
  });
}

function createCustomerKey(context: Context, customerKey: Uint8Array, subject: KeySubject): BodyKey {
  const { dataKey, encryption } = sealNewKey(context, customerKey, subject);
  return {
    dataKey,
    etag: "random",
    seal(checksums) {
      if (checksums === undefined) return { encryption };
      const sealedChecksums = sealChecksums(context, dataKey, checksums);
      return { checksums: {}, encryption: { ...encryption, sealedChecksums } };
    },
  };
}

function createStoreKey(context: Context, subject: KeySubject): BodyKey | Promise<BodyKey> {
  const loaded = currentMasterKey(context);
  return loaded instanceof Promise
    ? loaded.then(() => newStoreKey(context, subject))
    : newStoreKey(context, subject);
}

function newStoreKey(context: Context, subject: KeySubject): BodyKey {
  const { dataKey, seal } = createDataKey(context, subject);
  return {
    dataKey,
    etag: "md5",
    seal() {
      const master = currentMasterKey(context);
      if (!(master instanceof Promise)) return { encryption: seal(master) };
      return master.then((loaded) => ({ encryption: seal(loaded) }));
    },
  };
}
