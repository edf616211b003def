// Routes for the objects of a bucket: list by page, now or as of a time, and delete many.
import type { Engine } from "../../engine/engine.ts";
import type { Bucket } from "../../model/bucket.ts";
import { limits } from "../../model/limits.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { ConsoleError, json } from "../response.ts";
import type { Fields, Route } from "../route.ts";
import type { DeletedDocument, ObjectRow, ObjectsDocument } from "../wire-types.ts";
import { previewKind } from "./content.ts";
import { versioningState } from "./setting-changes.ts";
import { toLockDocument } from "./versions.ts";

export function objectRoutes(engine: Engine, now: () => number): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/objects",
      needs: { right: "view", on: "bucket", in: "query" },
      async run({ query }) {
        const name = query.text("bucket");
        const { prefixes, objects, cursor } = await engine.list(name, {
          prefix: query.text("prefix"),
          delimiter: query.optional("delimiter"),
          cursor: query.optional("cursor"),
          limit: query.number("limit", 200, limits.listEntries),
          time: query.time("at"),
        });
        const bucket = await engine.bucket(name);
        return json({
          prefixes,
          objects: objects.map((record) => toObjectRow(record, bucket, now())),
          versioning: versioningState(bucket),
          cursor,
        } satisfies ObjectsDocument);
      },
    },
    {
      method: "POST",
      path: "/api/objects/delete",
      needs: { right: "edit", on: "bucket", in: "body" },
      // Keys of 1,024 bytes, with room for characters that JSON escapes.
      maxJsonBytes: 2 * limits.deleteKeys * limits.keyBytes,
      async run({ fields }) {
        const given = await fields();
        const bucket = given.text("bucket");
        const prefix = given.optionalText("prefix");
        return json(
          prefix === undefined
            ? await deleteKeys(engine, bucket, parseKeys(given))
            : await deleteBatch(engine, bucket, prefix),
        );
      },
    },
  ];
}

export function toObjectRow(record: ObjectRecord, bucket: Bucket | undefined, now: number): ObjectRow {
  const { key, size, uploaded, etag, storageClass } = record;
  const lock = toLockDocument(record, bucket, now);
  return { key, size, uploaded, etag, storageClass, preview: previewKind(record), lock };
}

function parseKeys(given: Fields): readonly string[] {
  const keys = given.list("keys") ?? [];
  if (keys.every((key) => typeof key === "string")) return keys;
  throw new ConsoleError(400, '"keys" must be strings.');
}

async function deleteKeys(engine: Engine, bucket: string, keys: readonly string[]): Promise<DeletedDocument> {
  const markers = await engine.delete(bucket, keys);
  return { deleted: keys.length, markers: markers.length, isMore: false };
}

/** Deletes one batch per request, so that the page can show progress and stop. */
async function deleteBatch(engine: Engine, bucket: string, prefix: string): Promise<DeletedDocument> {
  const { objects, cursor } = await engine.list(bucket, { prefix, limit: limits.deleteKeys });
  const keys = objects.map(({ key }) => key);
  const markers = keys.length > 0 ? await engine.delete(bucket, keys) : [];
  return { deleted: keys.length, markers: markers.length, isMore: cursor !== undefined };
}
