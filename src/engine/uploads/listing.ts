// Lists active uploads and their parts.
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
  for await (const upload of everyUpload(context, bucket, { prefix, start: last })) {
    if (!isActive(upload, context.now())) continue;
    const at = delimiter === "" ? -1 : upload.key.indexOf(delimiter, prefix.length);
    const group = at === -1 ? undefined : upload.key.slice(0, at + delimiter.length);
    // If the cursor is a group, skip the whole group.
    const isSeen = group !== undefined && (group === prefixes.at(-1) || group === after?.key);
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

/** Yields active and ended uploads of a bucket, in order; `start` is exclusive. */
export async function* everyUpload(
  { records }: Pick<Context, "records">,
  bucket: string,
  { prefix = "", start }: { readonly prefix?: string; readonly start?: UploadScan["after"] } = {},
): AsyncGenerator<UploadRecord> {
  const limit = 1000;
  let after = start;
  for (;;) {
    const page = await records.uploads(bucket, { prefix, after, limit });
    yield* page;
    after = page.at(-1);
    if (page.length < limit) return;
  }
}

export async function listParts(
  context: Context,
  bucket: string,
  upload: UploadName,
  { after = 0, limit = limits.listEntries }: ListPartsOptions,
): Promise<PartListing> {
  if (limit < 0) throw new StoreError("InvalidMaxKeys");
  const { record } = await activeUpload(context, bucket, upload);
  const remaining = (await context.records.parts(bucket, upload.id)).filter(({ number }) => number > after);
  const parts = remaining.slice(0, Math.min(limit, limits.listEntries));
  return { upload: record, parts, isTruncated: parts.length < remaining.length };
}
