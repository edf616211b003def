// Buckets: their names and what is known of one.
import { StoreError } from "./errors.ts";
import type { StorageClass } from "./object.ts";

export interface BucketRecord {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly storageClass: StorageClass;
}

const shape = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const ipAddress = /^\d{1,3}(\.\d{1,3}){3}$/;

export function checkBucketName(name: string): void {
  if (!shape.test(name) || name.includes("..") || ipAddress.test(name)) {
    throw new StoreError("InvalidBucketName");
  }
}
