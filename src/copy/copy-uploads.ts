// Uploads on their way: an upload in flight comes over with the parts it has, and goes on in the target.

import { eachOf, type Joined, joined } from "../async/merge-join.ts";
import { everyUpload } from "../engine/uploads/uploads.ts";
import { compareKeys } from "../model/key.ts";
import type { PartRecord, UploadRecord } from "../model/upload.ts";
import { type Copying, isDamage, SourceFault } from "./context.ts";
import { commit, naming, openingSource, puttingPart, stage } from "./copy-object.ts";
import { isSamePart, isSameUpload } from "./equality.ts";

/** By key, then by id. */
export function joinedUploads({ from, to }: Copying, bucket: string) {
  const order = (a: UploadRecord, b: UploadRecord) => compareKeys(a.key, b.key) || compareKeys(a.id, b.id);
  return joined(everyUpload(from, bucket), everyUpload(to, bucket), order);
}

export async function copyUploads(copying: Copying, bucket: string): Promise<void> {
  try {
    const pairs = joinedUploads(copying, bucket);
    await eachOf(pairs, copying, (pair) => bringUpload(copying, bucket, pair));
  } catch (error) {
    if (!isDamage(error)) throw error;
    await copying.damaged({ bucket }, error);
  }
}

async function bringUpload(
  copying: Copying,
  bucket: string,
  { source, target }: Joined<UploadRecord, UploadRecord>,
): Promise<void> {
  if (source === undefined) return dropUpload(copying, bucket, target!);
  const { key } = source;
  try {
    const parts = await copying.from.records.parts(bucket, source.id);
    const there = await copying.to.records.parts(bucket, source.id);
    const isBeginning =
      target !== undefined &&
      isSameUpload(source, target) &&
      there.every((part) => parts.some((one) => isSamePart(one, part)));
    if (target !== undefined && !isBeginning) await dropUpload(copying, bucket, target);
    if (!isBeginning) await commit(copying, bucket, { mutations: [{ kind: "put upload", record: source }] });
    for (const part of parts) {
      const isThere = isBeginning && there.some((one) => isSamePart(one, part));
      if (!isThere) await bringPart(copying, bucket, source, part);
    }
  } catch (error) {
    const cause = error instanceof SourceFault ? error.cause : error;
    if (!isDamage(cause)) throw cause;
    await copying.damaged({ bucket, key }, cause);
  }
}

async function bringPart(
  copying: Copying,
  bucket: string,
  upload: UploadRecord,
  part: PartRecord,
): Promise<void> {
  const blob = { id: part.blob, size: part.stored };
  const isNamed = async () =>
    (await copying.from.records.parts(bucket, upload.id)).some((one) => one.blob === part.blob);
  const reader = await openingSource(() => copying.from.blobs.open(bucket, [blob], isNamed));
  // Replaced or ended since: the comparison tells.
  if (reader === undefined) return;
  try {
    const staged = await stage(copying, bucket, reader, blob);
    await naming(copying, bucket, staged, (stored) =>
      puttingPart(upload, { ...part, blob: stored.id, stored: stored.size }),
    );
  } finally {
    await reader.close();
  }
}

function dropUpload(copying: Copying, bucket: string, { key, id }: UploadRecord): Promise<void> {
  return commit(copying, bucket, { mutations: [{ kind: "delete upload", key, id }] });
}
