// Buckets: names, records and settings.

import { StoreError } from "./errors.ts";
import type { LockRule, ObjectLockSetting } from "./lock.ts";
import type { StorageClass } from "./object.ts";
import type { CorsRule } from "./settings/cors.ts";
import type { EncryptionSetting } from "./settings/encryption.ts";
import type { LifecycleRule } from "./settings/lifecycle.ts";
import type { NotificationRule } from "./settings/notification.ts";
import type { PublicAccessBlock } from "./settings/public-access-block.ts";
import type { Publication } from "./settings/publication.ts";
import type { Quota } from "./settings/quota.ts";
import type { Versioning } from "./version.ts";

export interface BucketRecord {
  readonly name: string;
  /** Creation time in milliseconds since the epoch. */
  readonly created: number;
  readonly storageClass: StorageClass;
  /** The owner that S3 clients see. */
  readonly account: string;
}

/** The owner of buckets created without an account. */
export const defaultAccount = "default";

/** Settings of a bucket; each is changed independently. */
export interface BucketSettings {
  readonly cors?: readonly CorsRule[] | undefined;
  readonly lifecycle?: readonly LifecycleRule[] | undefined;
  readonly notifications?: readonly NotificationRule[] | undefined;
  /** Settings of a public bucket. Undefined if the bucket is not public. */
  readonly publication?: Publication | undefined;
  /** Undefined if versioning was never turned on. */
  readonly versioning?: Versioning | undefined;
  readonly objectLock?: ObjectLockSetting | undefined;
  readonly lockRules?: readonly LockRule[] | undefined;
  /** Pairs of key and value. */
  readonly tags?: readonly (readonly [string, string])[] | undefined;
  /** Undefined: new objects are encrypted only if the request or the whole store asks for it. */
  readonly encryption?: EncryptionSetting | undefined;
  /** The maximum of what the bucket may contain. Every commit checks it. */
  readonly quota?: Quota | undefined;
  /** The bucket policy: the JSON text as it was put. */
  readonly policy?: string | undefined;
  readonly publicAccessBlock?: PublicAccessBlock | undefined;
  readonly ownership?: Ownership | undefined;
  /** The region that a client named when it created the bucket. */
  readonly region?: string | undefined;
}

/**
 * Who owns new objects, as S3 clients set and read it. The bucket's owner owns them in any case;
 * "enforced" also refuses requests with an ACL.
 */
export type Ownership = "enforced" | "preferred" | "writer";

/** The settings that decide what a write may remove. Commits check that they are unchanged. */
export type Protection = Pick<BucketSettings, "versioning" | "lockRules">;

export const protectionNames = ["versioning", "lockRules"] as const;

/** A bucket with its settings, read in one snapshot. */
export interface Bucket extends BucketRecord {
  readonly settings: BucketSettings;
}

export type SettingName = keyof BucketSettings;

const settings: Readonly<Record<SettingName, true>> = {
  cors: true,
  lifecycle: true,
  notifications: true,
  publication: true,
  versioning: true,
  objectLock: true,
  lockRules: true,
  tags: true,
  encryption: true,
  quota: true,
  policy: true,
  publicAccessBlock: true,
  ownership: true,
  region: true,
};

export const settingNames = Object.keys(settings) as readonly SettingName[];
const shape = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const ipAddress = /^\d{1,3}(\.\d{1,3}){3}$/;

export function checkBucketName(name: string): void {
  if (!shape.test(name) || name.includes("..") || ipAddress.test(name)) {
    throw new StoreError("InvalidBucketName");
  }
}

/** As in S3, a new name has no dash beside a dot: it would not be a host name. */
export function checkNewBucketName(name: string): void {
  checkBucketName(name);
  if (name.includes(".-") || name.includes("-.")) throw new StoreError("InvalidBucketName");
}
