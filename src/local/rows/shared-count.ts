// The stored number of references of a shared blob beyond the first, with a checksum: a wrong number
// would remove the bytes of a version.
import { verifyText, withTextChecksum } from "./checksum.ts";

export function sharedCount(blob: string, count: number): string {
  return withTextChecksum(String(count), blob);
}

/** Throws if the stored count is damaged. */
export function parseSharedCount(blob: string, count: unknown): number {
  return Number(verifyText(count, `the number of references of blob ${blob}`, blob));
}
