// Routes for the objects of a bucket: list by page, and delete many.
import type { Engine } from "../../engine/engine.ts";
import { limits } from "../../model/limits.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { ConsoleError, json } from "../response.ts";
import type { Fields, Route } from "../route.ts";
import type { DeletedDocument, ObjectRow, ObjectsDocument } from "../wire-types.ts";

export function objectRoutes(engine: Engine): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/objects",
      async run({ query }) {
        const listing = await engine.list(query.text("bucket"), {
          prefix: query.text("prefix"),
          delimiter: query.optional("delimiter"),
          cursor: query.optional("cursor"),
          limit: query.number("limit", 200, limits.listEntries),
        });
        const { prefixes, cursor } = listing;
        const objects = listing.objects.map(toObjectRow);
        return json({ prefixes, objects, cursor } satisfies ObjectsDocument);
      },
    },
    {
      method: "POST",
      path: "/api/objects/delete",
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

export function toObjectRow({ key, size, uploaded, etag, storageClass }: ObjectRecord): ObjectRow {
  return { key, size, uploaded, etag, storageClass };
}

function parseKeys(given: Fields): readonly string[] {
  const keys = given.list("keys") ?? [];
  if (keys.every((key) => typeof key === "string")) return keys;
  throw new ConsoleError(400, '"keys" must be strings.');
}

async function deleteKeys(engine: Engine, bucket: string, keys: readonly string[]): Promise<DeletedDocument> {
  await engine.delete(bucket, keys);
  return { deleted: keys.length, isMore: false };
}

/** Deletes one batch per request, so that the page can show progress and stop. */
async function deleteBatch(engine: Engine, bucket: string, prefix: string): Promise<DeletedDocument> {
  const { objects, cursor } = await engine.list(bucket, { prefix, limit: limits.deleteKeys });
  const keys = objects.map(({ key }) => key);
  if (keys.length > 0) await engine.delete(bucket, keys);
  return { deleted: keys.length, isMore: cursor !== undefined };
}
