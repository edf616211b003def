// Copies one file or object, verifies the copy, and removes the source of a move.
import { createHash } from "node:crypto";
import { unlink } from "node:fs/promises";
import type { GetOutcome, WriteOptions } from "../../../engine/engine.ts";
import { guessContentType } from "../../../http/content-types.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import { CommandError } from "../../framework/command-error.ts";
import { fileError } from "../../framework/failures.ts";
import type { Output } from "../../framework/output.ts";
import type { ObjectAddress } from "../../store/object-address.ts";
import type { ObjectSide } from "../../store/stores.ts";
import { standardInput } from "../../terminal/input.ts";
import { printBytes } from "../../terminal/print-bytes.ts";
import { openLocalFile } from "../sync/local-file.ts";
import { upload } from "../upload.ts";
import { requireSame, verifiedChunks } from "../verified-chunks.ts";
import type { SourceItem } from "./sources.ts";
import type { CopyTarget } from "./targets.ts";

export interface CopyContext {
  readonly output: Output;
  readonly signal: AbortSignal;
  /** Whether the source is deleted after the copy was verified. */
  readonly isMove: boolean;
  onBytes(count: number): void;
}

type Item = Exclude<SourceItem, { readonly kind: "failed" | "passed" }>;

/** Returns the number of bytes copied. */
export async function copyItem(item: Item, target: CopyTarget, context: CopyContext): Promise<number> {
  if (target.kind === "object") {
    const to = { side: target.side, address: target.address(item.name) };
    if (item.kind === "object") return copyObject(item, to, context);
    return item.kind === "file" ? uploadFile(item, to, context) : uploadStream(to, context);
  }
  if (item.kind !== "object") throw new CommandError("One side must be a bucket.");
  return target.kind === "file" ? downloadFile(item, target, context) : printObject(item, context);
}

interface ObjectTarget {
  readonly side: ObjectSide;
  readonly address: ObjectAddress;
}

function newObjectOptions(key: string): WriteOptions {
  const contentType = guessContentType(key);
  return { httpMetadata: contentType === undefined ? {} : { contentType } };
}

async function uploadFile(
  { path }: Item & { readonly kind: "file" },
  { side, address: to }: ObjectTarget,
  { signal, onBytes, isMove }: CopyContext,
): Promise<number> {
  const file = await openLocalFile(path);
  const hash = createHash("md5");
  try {
    const chunks = observe(file.chunks(), (chunk) => hash.update(chunk));
    const { engine } = side.store;
    const given = { chunks, size: file.size, options: newObjectOptions(to.key), signal, onBytes };
    const stored = await upload({ engine, to, ...given });
    requireSame(stored, { size: file.size, md5: hash.digest("hex") });
    // Reading to the end has verified that the file is unchanged since it was opened.
    if (isMove) await removeFile(path);
    return file.size;
  } finally {
    await file.close();
  }
}

async function removeFile(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    throw fileError(error, "delete", path);
  });
}

async function uploadStream({ side, address: to }: ObjectTarget, context: CopyContext): Promise<number> {
  const input = standardInput();
  try {
    const { signal, onBytes } = context;
    const given = { ...input, options: newObjectOptions(to.key), signal, onBytes };
    return (await upload({ engine: side.store.engine, to, ...given })).size;
  } finally {
    input.close();
  }
}

type ObjectItem = Item & { readonly kind: "object" };

async function openObject({ side, record: { key } }: ObjectItem): Promise<GetOutcome & { outcome: "found" }> {
  const found = await side.store.engine.get(side.bucket, key);
  if (found.outcome === "found") return found;
  throw new CommandError("It was deleted meanwhile.");
}

async function downloadFile(
  item: ObjectItem,
  target: CopyTarget & { readonly kind: "file" },
  context: CopyContext,
): Promise<number> {
  const { record, bytes } = await openObject(item);
  try {
    await target.write(item.name, verifiedChunks(bytes.chunks(), record, context.onBytes));
  } catch (error) {
    await bytes.cancel();
    throw error;
  }
  if (context.isMove) {
    // The file must be durable before the object is deleted.
    await target.finish();
    await deleteSource(item, record);
  }
  return record.size;
}

async function printObject(item: ObjectItem, { output }: CopyContext): Promise<number> {
  const { record, bytes } = await openObject(item);
  await printBytes(output, { what: "object", bytes, onTerminal: "anything" });
  return record.size;
}

async function* observe(
  chunks: AsyncIterable<Uint8Array>,
  onChunk: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    onChunk(chunk);
    yield chunk;
  }
}

async function copyObject(
  item: ObjectItem,
  { side, address: to }: ObjectTarget,
  context: CopyContext,
): Promise<number> {
  const from = { bucket: item.side.bucket, key: item.record.key };
  const isSameStore = item.side.store === side.store;
  if (isSameStore && from.bucket === to.bucket && from.key === to.key) {
    throw new CommandError("The source and the target are the same object.");
  }
  const copied = isSameStore && side.store.engine.service !== undefined;
  const record = copied
    ? await copyInside(item, to)
    : await copyThrough(item, { side, address: to }, context);
  if (copied) context.onBytes(record.size);
  if (context.isMove) await deleteSource(item, record);
  return record.size;
}

/** The service copies by itself; it fails if the source has changed since it was listed. */
async function copyInside({ side, record }: ObjectItem, to: ObjectAddress): Promise<ObjectRecord> {
  await side.store.engine.service!.copy({ bucket: side.bucket, key: record.key }, record, to);
  return record;
}

/** Returns the record of the source as it was read. */
async function copyThrough(
  item: ObjectItem,
  { side, address: to }: ObjectTarget,
  context: CopyContext,
): Promise<ObjectRecord> {
  const { engine } = item.side.store;
  const { record, bytes } = await openObject(item);
  const isRemote = engine.service !== undefined;
  const withTags = isRemote
    ? await engine.head(item.side.bucket, record.key, { version: versionOf(record), withTags: true })
    : record;
  const { httpMetadata, customMetadata, storageClass, passthrough } = record;
  const described = { httpMetadata, customMetadata, storageClass, passthrough };
  const options: WriteOptions = { ...described, tags: withTags?.tags };
  const chunks = verifiedChunks(bytes.chunks(), record);
  const { signal, onBytes } = context;
  try {
    const given = { chunks, size: record.size, options, signal, onBytes };
    const stored = await upload({ engine: side.store.engine, to, ...given });
    if (stored.size !== record.size)
      throw new CommandError("The copy differs from its source; copy it again.");
    return record;
  } catch (error) {
    await bytes.cancel();
    throw error;
  }
}

function versionOf({ isVersioned, version }: ObjectRecord): string | undefined {
  return isVersioned === true ? version : undefined;
}

/** Deletes the object only if it still is the one that was copied. */
async function deleteSource({ side }: ObjectItem, { key, etag }: ObjectRecord): Promise<void> {
  const condition = { etagMatches: [{ value: etag, weak: false }] };
  await side.store.engine.delete(side.bucket, [key], { condition });
}
