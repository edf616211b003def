// Copies active uploads with their parts, so that they can be continued in the target.
import { forEachLimit } from "../async/for-each-limit.ts";
import { type JoinedPair, mergeJoin } from "../async/merge-join.ts";
import { everyUpload } from "../engine/uploads/listing.ts";
import { compareKeys } from "../model/key.ts";
import type { PartRecord, UploadRecord } from "../model/upload.ts";
import { type CopyContext, isDamage, SourceFault } from "./context.ts";
import { commit, commitStaged, openSource, putPartChange, stage } from "./copy-object.ts";
import { isSamePart, isSameUpload } from "./equality.ts";

/** Joins the uploads of both sides, sorted by key, then by id. */
export function joinUploads({ from, to }: CopyContext, bucket: string) {
  const order = (a: UploadRecord, b: UploadRecord) => compareKeys(a.key, b.key) || compareKeys(a.id, b.id);
  return mergeJoin(everyUpload(from, bucket), everyUpload(to, bucket), order);
}

export async function copyUploads(context: CopyContext, bucket: string): Promise<void> {
  try {
    const pairs = joinUploads(context, bucket);
    await forEachLimit(pairs, context, (pair) => syncUpload(context, bucket, pair));
  } catch (error) {
    if (!isDamage(error)) throw error;
    await context.reportDamage({ bucket }, error);
  }
}

async function syncUpload(
  context: CopyContext,
  bucket: string,
  { source, target }: JoinedPair<UploadRecord, UploadRecord>,
): Promise<void> {
  if (source === undefined) return dropUpload(context, bucket, target!);
  const { key } = source;
  try {
    const parts = await context.from.records.parts(bucket, source.id);
    const existingParts = await context.to.records.parts(bucket, source.id);
    const isPartialCopy =
      target !== undefined &&
      isSameUpload(source, target) &&
      existingParts.every((part) => parts.some((one) => isSamePart(one, part)));
    if (target !== undefined && !isPartialCopy) await dropUpload(context, bucket, target);
    if (!isPartialCopy)
      await commit(context, bucket, { mutations: [{ kind: "put upload", record: source }] });
    for (const part of parts) {
      const isCopied = isPartialCopy && existingParts.some((one) => isSamePart(one, part));
      if (!isCopied) await copyUploadPart(context, bucket, source, part);
    }
  } catch (error) {
    const cause = error instanceof SourceFault ? error.cause : error;
    if (!isDamage(cause)) throw cause;
    await context.reportDamage({ bucket, key }, cause);
  }
}

async function copyUploadPart(
  context: CopyContext,
  bucket: string,
  upload: UploadRecord,
  part: PartRecord,
): Promise<void> {
  const blob = { id: part.blob, size: part.stored };
  const isReferenced = async () =>
    (await context.from.records.parts(bucket, upload.id)).some((one) => one.blob === part.blob);
  const reader = await openSource(() => context.from.blobs.open(bucket, [blob], isReferenced));
  // The part was replaced or the upload ended during the copy. The comparison reports this.
  if (reader === undefined) return;
  try {
    const staged = await stage(context, bucket, reader, blob);
    await commitStaged(context, bucket, staged, (stored) =>
      putPartChange(upload, { ...part, blob: stored.id, stored: stored.size }),
    );
  } finally {
    await reader.close();
  }
}

function dropUpload(context: CopyContext, bucket: string, { key, id }: UploadRecord): Promise<void> {
  return commit(context, bucket, { mutations: [{ kind: "delete upload", key, id }] });
}
