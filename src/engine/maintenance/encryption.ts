// Creates the operations on the encryption of a whole store.
import type { Encryption } from "../../model/object.ts";
import type { Context } from "../context.ts";
import type { EncryptionOperations, EncryptionStatus } from "../encryption-operations.ts";
import { applyEncryption } from "./encrypt-existing.ts";
import { activeUploads, bucketNames, walkVersions } from "./encryption-walk.ts";
import { readRotation, rotate } from "./rotation.ts";

export function createEncryptionOperations(context: Context): EncryptionOperations {
  return {
    mode: context.encryption?.encrypt,
    status: () => readStatus(context),
    rotate: (options = {}) => rotate(context, options),
    apply: (options = {}) => applyEncryption(context, options),
  };
}

async function readStatus(context: Context): Promise<EncryptionStatus> {
  const counts = { unencrypted: 0, withStoreKey: 0, withCustomerKey: 0 };
  const byMasterKey = new Map<string, number>();
  const count = (encryption: Encryption | undefined) => {
    if (encryption === undefined) counts.unencrypted++;
    else if (encryption.masterKey === undefined) counts.withCustomerKey++;
    else {
      counts.withStoreKey++;
      byMasterKey.set(encryption.masterKey, (byMasterKey.get(encryption.masterKey) ?? 0) + 1);
    }
  };
  for await (const { versions } of walkVersions(context, undefined)) {
    for (const { encryption } of versions) count(encryption);
  }
  for (const bucket of await bucketNames(context)) {
    for (const { encryption } of await activeUploads(context, bucket)) count(encryption);
  }
  const masterKeys = (await context.encryption?.masterKeys.list()) ?? [];
  return { ...counts, byMasterKey, masterKeys, rotation: await readRotation(context) };
}
