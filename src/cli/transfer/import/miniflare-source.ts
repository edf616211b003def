// Imports from miniflare's local state: one SQLite database for each bucket, named by a hash of the
// bucket's name, and files with the bytes. Read-only, so miniflare can keep running.
import { createHash, createHmac } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import type { HttpMetadata } from "../../../model/object.ts";
import { isFields } from "../../../model/shape.ts";
import { CommandError } from "../../framework/command-error.ts";
import { fileError } from "../../framework/failures.ts";
import { escapeControls } from "../../framework/output.ts";
import {
  type ImportSource,
  parseMd5Etag,
  type SourceBody,
  type SourceContent,
  type SourceObject,
} from "./source.ts";

const databases = "miniflare-R2BucketObject";
/** Subfolders that may contain the buckets: the user names a project or a state folder. */
const subfolders = ["", "r2", "v3/r2", "state/v3/r2", ".wrangler/state/v3/r2"];

export interface MiniflareOptions {
  /** The folder as typed by the user, for messages. */
  readonly folder: string;
  readonly directory: string;
  readonly bucket: string;
}

export function openMiniflareSource({ folder, directory, bucket }: MiniflareOptions): ImportSource {
  const state = subfolders
    .map((subfolder) => join(directory, subfolder))
    .find((path) => existsSync(join(path, databases)));
  if (state === undefined) {
    throw new CommandError(`"${escapeControls(folder)}" contains no buckets of miniflare.`, {
      hint: "Use the folder that contains .wrangler, or the folder set by r2Persist.",
    });
  }
  const path = join(state, databases, `${durableObjectId(bucket)}.sqlite`);
  if (bucket.includes("/") || !existsSync(path)) {
    const others = readdirSync(state).filter((name) =>
      existsSync(join(state, databases, `${durableObjectId(name)}.sqlite`)),
    );
    throw new CommandError(
      `miniflare has no bucket "${escapeControls(bucket)}" in "${escapeControls(folder)}".`,
      {
        hint:
          others.length === 0
            ? []
            : `Choose one of these: --source-bucket ${others.map(escapeControls).join(", ")}`,
      },
    );
  }
  const blobs = join(state, bucket, "blobs");
  const database = new DatabaseSync(path, { readOnly: true });
  const selectPage = database.prepare("SELECT * FROM _mf_objects WHERE key > ? ORDER BY key LIMIT 500");
  const selectParts = database.prepare(
    "SELECT blob_id, size FROM _mf_multipart_parts WHERE object_key = ? ORDER BY part_number",
  );

  async function* objects(): AsyncGenerator<SourceObject> {
    for (let after = ""; ; ) {
      const rows = selectPage.all(after) as unknown as ObjectRow[];
      for (const row of rows) {
        const { key, size, etag, uploaded } = row;
        yield { key, size, etag, written: uploaded, read: async () => toContent(row) };
      }
      if (rows.length === 0) return;
      after = rows.at(-1)!.key;
    }
  }

  function toContent(row: ObjectRow): SourceContent {
    const parts = row.blob_id === null ? (selectParts.all(row.key) as unknown as BlobRow[]) : undefined;
    const md5 = parts === undefined ? parseMd5Etag(row.etag) : undefined;
    return {
      httpMetadata: parseColumn(row.http_metadata, isHttpMetadata),
      customMetadata: new Map(Object.entries(parseColumn(row.custom_metadata, areTexts))),
      storageClass: undefined,
      checksums: md5 === undefined ? [] : [md5, ...parseHashes(row.checksums)],
      parts: parts?.length,
      openBody: async (part = 1) => openBlobBody(blobs, parts?.[part - 1] ?? row),
      cancel() {},
    };
  }

  return { objects, close: () => database.close() };
}

interface BlobRow {
  readonly blob_id: string | null;
  readonly size: number;
}

interface ObjectRow extends BlobRow {
  readonly key: string;
  readonly etag: string;
  readonly uploaded: number;
  readonly checksums: string;
  readonly http_metadata: string;
  readonly custom_metadata: string;
}

/** Parses a column with JSON. The database was written by another program. */
function parseColumn<T>(text: unknown, isExpected: (value: unknown) => value is T): T {
  try {
    const value: unknown = JSON.parse(String(text));
    if (isExpected(value)) return value;
  } catch {
    // Reported below.
  }
  throw new CommandError("Its database row has metadata or checksums in an unknown form.");
}

function areTexts(value: unknown): value is Record<string, string> {
  return isFields(value) && Object.values(value).every((one) => typeof one === "string");
}

function isHttpMetadata(value: unknown): value is HttpMetadata {
  if (!isFields(value)) return false;
  const { cacheExpiry, ...texts } = value;
  return (cacheExpiry === undefined || typeof cacheExpiry === "number") && areTexts(texts);
}

/** Computes the id that workerd assigns to a durable object of this name. */
function durableObjectId(bucket: string): string {
  const key = createHash("sha256").update(databases).digest();
  const half = (bytes: string | Buffer) => createHmac("sha256", key).update(bytes).digest().subarray(0, 16);
  const name = half(bucket);
  return Buffer.concat([name, half(name)]).toString("hex");
}

/** Parses the checksums that were uploaded with the object; the import stores them again. */
function parseHashes(text: string) {
  const given = parseColumn(text, areTexts);
  return (["sha1", "sha256", "sha384", "sha512"] as const).flatMap((algorithm) => {
    const value = given[algorithm];
    return value === undefined ? [] : [{ algorithm, value: Buffer.from(value, "hex") }];
  });
}

function openBlobBody(blobs: string, { blob_id, size }: BlobRow): SourceBody {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    if (!/^[0-9a-f]+$/.test(blob_id ?? "")) throw new CommandError("Its database row has no file name.");
    const path = join(blobs, blob_id!);
    try {
      const handle = await open(path);
      // The stream closes the handle when it ends, fails or is destroyed.
      yield* handle.createReadStream({ highWaterMark: 256 * 1024 }) as AsyncIterable<Uint8Array>;
    } catch (error) {
      throw fileError(error, "read", path);
    }
  }
  return { length: size, chunks, cancel() {} };
}
