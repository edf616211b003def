// Lists active uploads and their parts.
import { setImmediate as nextTurn } from "node:timers/promises";
import { StoreError } from "../../model/errors.ts";
import { limits } from "../../model/limits.ts";
import { isActive, type UploadRecord } from "../../model/upload.ts";
import type { Context } from "../context.ts";
import type { UploadScan } from "../records.ts";
import { requireBucket } from "../write-path.ts";
import { activeUpload } from "./complete.ts";
import type {
  ListPartsOptions,
  ListUploadsOptions,
  PartListing,
  UploadListing,
  UploadName,
} from "./upload-operations.ts";

export async function listUploads(
  context: Context,
  bucket: string,
  { prefix = "", delimiter = "", after, limit = limits.listEntries }: ListUploadsOptions,
): Promise<UploadListing> {
  await requireBucket(context, bucket);
  const uploads: UploadRecord[] = [];
  const prefixes: string[] = [];
  let last: UploadScan["after"] =
    after?.id === undefined ? after && { key: after.key } : { key: after.key, id: after.id };
  const maxEntries = Math.min(limit, limits.listEntries);
  const groupOf = ({ key }: UploadRecord) => {
    const at = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
    return at === -1 ? undefined : key.slice(0, at + delimiter.length);
  };
  /** Skips the rest of a group that the listing already has: it may have a million uploads. */
  const resumeAfter = (upload: UploadRecord) => {
    const group = groupOf(upload);
    const isListed = group !== undefined && (group === prefixes.at(-1) || group === after?.key);
    return isListed ? { key: group + lastCharacter } : upload;
  };
  let ended = 0;
  for await (const upload of everyUpload(context, bucket, { prefix, start: last, resumeAfter })) {
    const group = groupOf(upload);
    // If the cursor is a group, skip the whole group.
    const isSeen = group !== undefined && (group === prefixes.at(-1) || group === after?.key);
    if (!isActive(upload, context.now())) {
      if (!isSeen) last = { key: upload.key, id: upload.id };
      if (++ended >= maxEnded) return { uploads, prefixes, next: last };
      continue;
    }
    if (!isSeen && uploads.length + prefixes.length >= maxEntries) return { uploads, prefixes, next: last };
    if (group === undefined) {
      uploads.push(upload);
      last = { key: upload.key, id: upload.id };
    } else if (!isSeen) {
      prefixes.push(group);
      last = { key: group };
    }
  }
  return { uploads, prefixes, next: undefined };
}

/** A page ends after this many uploads that were completed or aborted: they stay for a week. */
const maxEnded = 10_000;

/** The last character of Unicode. Keys that continue with another one sort before it. */
const lastCharacter = "\u{10ffff}";

interface UploadWalk {
  readonly prefix?: string;
  /** Exclusive. */
  readonly start?: UploadScan["after"];
  /** Returns where to go on after the last upload of a batch. Default: after this upload. */
  readonly resumeAfter?: (last: UploadRecord) => UploadScan["after"];
}

/** Yields active and ended uploads of a bucket, in order. */
export async function* everyUpload(
  { records }: Pick<Context, "records">,
  bucket: string,
  { prefix = "", start, resumeAfter }: UploadWalk = {},
): AsyncGenerator<UploadRecord> {
  const limit = 1000;
  let after = start;
  for (;;) {
    const page = await records.uploads(bucket, { prefix, after, limit });
    yield* page;
    if (page.length < limit) return;
    const last = page.at(-1)!;
    after = resumeAfter === undefined ? last : resumeAfter(last);
    // Let pending requests run between pages.
    await nextTurn();
  }
}

export async function listParts(
  context: Context,
  bucket: string,
  upload: UploadName,
  { after = 0, limit = limits.listEntries, initiator }: ListPartsOptions,
): Promise<PartListing> {
  if (limit < 0) throw new StoreError("InvalidMaxKeys");
  const { record } = await activeUpload(context, bucket, upload, { initiator });
  const remaining = (await context.records.parts(bucket, upload.id)).filter(({ number }) => number > after);
  const parts = remaining.slice(0, Math.min(limit, limits.listEntries));
  return { upload: record, parts, isTruncated: parts.length < remaining.length };
}
