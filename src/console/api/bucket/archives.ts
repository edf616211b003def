// Routes that download a selection of objects and folders as one ZIP archive. The selection can be
// longer than a URL, so the page stores it first and then downloads by its id.
import { randomBytes } from "node:crypto";
import type { Engine } from "../../../engine/engine.ts";
import type { Documents } from "../../../engine/records.ts";
import { limits } from "../../../model/limits.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import { isFields } from "../../../model/shape.ts";
import { ConsoleError, createResponse, json } from "../../response.ts";
import type { Fields, Route } from "../../route.ts";
import type { ArchiveDocument } from "../../wire-bucket.ts";
import { fileNameParameter } from "../content.ts";
import { type ZipFile, zipStream } from "./zip-stream.ts";

interface Selection {
  readonly bucket: string;
  /** Folder of the page; left out of the names in the archive. */
  readonly base: string;
  readonly keys: readonly string[];
  readonly prefixes: readonly string[];
  readonly expires: number;
}

const path = "/api/archive";
const kind = "console archive";
const idShape = /^[A-Za-z0-9_-]{22}$/;
const lifetime = 3600 * 1000;
const maxObjects = 100_000;
const maxNamed = 1000;

export function archiveRoutes(engine: Engine, documents: Documents, now: () => number): readonly Route[] {
  return [
    {
      method: "POST",
      path,
      needs: { right: "view", on: "bucket", in: "body" },
      maxJsonBytes: 256 * 1024,
      async run({ fields }) {
        const selection = parseSelection(await fields(), now() + lifetime);
        const counts = await count(engine, selection);
        await deleteExpired(documents, now());
        const id = randomBytes(16).toString("base64url");
        await documents.put(kind, id, JSON.stringify(selection), undefined);
        return json({ id, ...counts } satisfies ArchiveDocument, 201);
      },
    },
    {
      method: "GET",
      path,
      needs: { right: "view", on: "bucket", in: "query" },
      async run({ query }) {
        const selection = await readSelection(documents, query.text("id"));
        if (selection?.bucket !== query.text("bucket") || selection.expires <= now())
          throw new ConsoleError(404, "This download has expired.", { hint: "Select the objects again." });
        const chunks = zipStream(files(engine, selection));
        const body = {
          length: undefined,
          chunks: () => chunks,
          cancel: async () => void (await chunks.return()),
        };
        return createResponse(200, body, [
          ["content-type", "application/zip"],
          ["content-disposition", `attachment; ${fileNameParameter(archiveName(selection))}`],
        ]);
      },
    },
  ];
}

function parseSelection(given: Fields, expires: number): Selection {
  const texts = (name: string) => {
    const list = given.list(name) ?? [];
    if (list.length <= maxNamed && list.every((one) => typeof one === "string")) return list;
    throw new ConsoleError(400, `"${name}" must be at most ${maxNamed} strings.`);
  };
  const [keys, prefixes] = [texts("keys"), texts("prefixes")];
  if (keys.length + prefixes.length === 0) throw new ConsoleError(400, "Select at least one object.");
  return { bucket: given.text("bucket"), base: given.optionalText("base") ?? "", keys, prefixes, expires };
}

async function readSelection(documents: Documents, id: string): Promise<Selection | undefined> {
  const document = idShape.test(id) ? await documents.get(kind, id) : undefined;
  const value: unknown = document && JSON.parse(document.text);
  return isFields(value) ? (value as unknown as Selection) : undefined;
}

async function deleteExpired(documents: Documents, now: number): Promise<void> {
  for (const { name, text } of await documents.list(kind))
    if ((JSON.parse(text) as Selection).expires <= now) await documents.delete(kind, name);
}

/** Refuses before the download begins, because a download cannot fail with a message. */
async function count(engine: Engine, { bucket, keys, prefixes }: Selection) {
  let [objects, bytes] = [0, 0];
  for (const key of keys) {
    const record = await engine.head(bucket, key);
    if (record === undefined) continue;
    objects++;
    bytes += record.size;
  }
  for (const prefix of prefixes) {
    for await (const record of recordsUnder(engine, bucket, prefix)) {
      objects++;
      bytes += record.size;
      if (objects > maxObjects)
        throw new ConsoleError(409, `An archive has at most ${maxObjects.toLocaleString("en-US")} objects.`, {
          hint: "Download fewer folders at a time, or use store sync.",
        });
    }
  }
  return { objects, bytes };
}

async function* recordsUnder(engine: Engine, bucket: string, prefix: string): AsyncIterable<ObjectRecord> {
  let cursor: string | undefined;
  do {
    const page = await engine.list(bucket, { prefix, cursor, limit: limits.listEntries });
    yield* page.objects;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

async function* files(engine: Engine, selection: Selection): AsyncIterable<ZipFile> {
  const { bucket, base, keys, prefixes } = selection;
  const missing: string[] = [];
  async function* all(): AsyncIterable<string> {
    yield* keys;
    for (const prefix of prefixes)
      for await (const { key } of recordsUnder(engine, bucket, prefix)) yield key;
  }
  for await (const key of all()) {
    const record = await engine.head(bucket, key);
    const isReadable = record !== undefined && record.encryption?.keyMd5 === undefined;
    const found = isReadable ? await engine.get(bucket, key) : undefined;
    if (found?.outcome === "found") {
      const { uploaded: modified, size } = found.record;
      yield { name: key.startsWith(base) ? key.slice(base.length) : key, modified, size, bytes: found.bytes };
    } else
      missing.push(`${key}: ${record === undefined ? "deleted meanwhile" : "encrypted by a customer's key"}`);
  }
  if (missing.length === 0) return;
  const bytes = Buffer.from(`These objects are not in the archive:\n${missing.join("\n")}\n`);
  yield { name: "NOT INCLUDED.txt", modified: selection.expires - lifetime, size: bytes.length, bytes };
}

function archiveName({ bucket, base, keys, prefixes }: Selection): string {
  const only = keys.length === 0 && prefixes.length === 1 ? prefixes[0]! : base;
  const folder = only.split("/").findLast((part) => part !== "");
  return `${folder ?? bucket}.zip`;
}
