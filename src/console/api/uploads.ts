// Routes for multipart uploads: a list with progress, and the steps of uploads by the page.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Engine } from "../../engine/engine.ts";
import type { ListUploadsOptions, UploadName } from "../../engine/uploads/upload-operations.ts";
import { StoreError } from "../../model/errors.ts";
import { limits } from "../../model/limits.ts";
import { isFields } from "../../model/shape.ts";
import type { PartRecord, UploadRecord } from "../../model/upload.ts";
import { ConsoleError, json, noContent } from "../response.ts";
import type { Fields, Query, Route } from "../route.ts";
import type { PartsDocument, StoredDocument, UploadRow, UploadsDocument } from "../wire-types.ts";
import { bodySource } from "./object.ts";

export const pageUploads = 100;
export const pageParts = 10_000;
/** Other requests run between two listings, each of which reads all parts of the upload. */
const listedParts = limits.listEntries;

export function uploadRoutes(engine: Engine): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/uploads",
      needs: { right: "view", on: "bucket", in: "query" },
      async run({ query }) {
        const bucket = query.text("bucket");
        const after = parseCursor(query.optional("cursor"));
        const { rows, next } = await listRows(engine, bucket, after);
        return json({
          uploads: rows,
          cursor: next === undefined ? undefined : JSON.stringify([next.key, next.id]),
        } satisfies UploadsDocument);
      },
    },
    {
      method: "POST",
      path: "/api/uploads",
      needs: { right: "edit", on: "bucket", in: "body" },
      async run({ fields }) {
        const given = await fields();
        const contentType = given.optionalText("contentType");
        const httpMetadata = contentType === undefined || contentType === "" ? {} : { contentType };
        const { id } = await engine.createUpload(given.text("bucket"), given.text("key"), { httpMetadata });
        return json({ id }, 201);
      },
    },
    {
      method: "GET",
      path: "/api/uploads/parts",
      needs: { right: "view", on: "bucket", in: "query" },
      async run({ query }) {
        const parts: PartsDocument["parts"][number][] = [];
        for await (const { number, size, etag } of everyPart(
          engine,
          query.text("bucket"),
          uploadName(query),
        )) {
          parts.push({ number, size, etag });
        }
        return json({ parts } satisfies PartsDocument);
      },
    },
    {
      method: "PUT",
      path: "/api/uploads/part",
      needs: { right: "edit", on: "bucket", in: "query" },
      async run({ query, request }) {
        const number = query.number("number", 0, limits.partNumber);
        const source = bodySource(request);
        const { etag } = await engine.uploadPart(query.text("bucket"), uploadName(query), number, source);
        return json({ etag } satisfies StoredDocument);
      },
    },
    {
      method: "POST",
      path: "/api/uploads/complete",
      needs: { right: "edit", on: "bucket", in: "body" },
      // 10,000 parts.
      maxJsonBytes: 1024 * 1024,
      async run({ fields }) {
        const given = await fields();
        const name = { key: given.text("key"), id: given.text("upload") };
        const { etag } = await engine.completeUpload(given.text("bucket"), name, parseParts(given), {
          partSizes: "s3",
        });
        return json({ etag } satisfies StoredDocument);
      },
    },
    {
      method: "DELETE",
      path: "/api/uploads",
      needs: { right: "edit", on: "bucket", in: "query" },
      async run({ query }) {
        await engine.abortUpload(query.text("bucket"), uploadName(query));
        return noContent();
      },
    },
  ];
}

function uploadName(query: Query): UploadName {
  return { key: query.text("key"), id: query.text("upload") };
}

/** Lists one page. It ends early if its uploads have many parts, because a row counts all of them. */
async function listRows(engine: Engine, bucket: string, after: ListUploadsOptions["after"]) {
  const { uploads, next } = await engine.listUploads(bucket, { after, limit: pageUploads });
  const rows: UploadRow[] = [];
  let counted = 0;
  for (const upload of uploads) {
    const row = await toUploadRow(engine, bucket, upload);
    if (row === undefined) continue;
    rows.push(row);
    counted += row.parts;
    if (counted >= pageParts && upload !== uploads.at(-1)) return { rows, next: upload };
  }
  return { rows, next };
}

/** Undefined if the upload has ended in the meantime. */
async function toUploadRow(
  engine: Engine,
  bucket: string,
  { key, id, created, due }: UploadRecord,
): Promise<UploadRow | undefined> {
  let [parts, bytes] = [0, 0];
  try {
    for await (const { size } of everyPart(engine, bucket, { key, id })) {
      parts++;
      bytes += size;
    }
  } catch (error) {
    if (error instanceof StoreError && error.reason === "NoSuchUpload") return undefined;
    throw error;
  }
  return { bucket, key, id, created, due, parts, bytes };
}

async function* everyPart(engine: Engine, bucket: string, name: UploadName): AsyncIterable<PartRecord> {
  let after: number | undefined;
  for (;;) {
    const { parts, isTruncated } = await engine.listParts(bucket, name, { after, limit: listedParts });
    yield* parts;
    if (!isTruncated) return;
    await nextTurn();
    after = parts.at(-1)?.number;
  }
}

function parseCursor(cursor: string | undefined): { key: string; id?: string | undefined } | undefined {
  if (cursor === undefined) return undefined;
  try {
    const [key, id] = JSON.parse(cursor) as unknown[];
    if (typeof key === "string") return typeof id === "string" ? { key, id } : { key };
  } catch {
    // Not JSON: the error below is thrown.
  }
  throw new ConsoleError(400, "The cursor is not valid; use the cursor of a previous page.");
}

function parseParts(given: Fields): { number: number; etag: string }[] {
  return (given.list("parts") ?? []).map((part) => {
    if (isFields(part) && typeof part.number === "number" && typeof part.etag === "string") {
      return { number: part.number, etag: part.etag };
    }
    throw new ConsoleError(400, 'Each of "parts" must have a number and an etag.');
  });
}
