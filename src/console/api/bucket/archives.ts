// Routes that download a selection of objects and folders as one ZIP archive. The selection can be
// longer than a URL, so the page stores it first and then downloads by its id.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Engine } from "../../../engine/engine.ts";
import type { Documents } from "../../../engine/records.ts";
import { limits } from "../../../model/limits.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import { ConsoleError, createResponse, json } from "../../response.ts";
import type { Fields, Route } from "../../route.ts";
import type { ArchiveDocument } from "../../wire-bucket.ts";
import { fileNameParameter } from "../content.ts";
import { createSelections, maxSelectionBytes, type Selection } from "./archive-selections.ts";
import { type ZipFile, zipStream } from "./zip-stream.ts";

const path = "/api/archive";
export const maxObjects = 100_000;
export const maxNamed = 1000;
/** Keys that `NOT INCLUDED.txt` names. */
const maxMissing = 1000;

type NewSelection = Omit<Selection, "expires">;

export function archiveRoutes(engine: Engine, documents: Documents, now: () => number): readonly Route[] {
  const selections = createSelections(documents, now);
  return [
    {
      method: "POST",
      path,
      needs: { right: "view", on: "bucket", in: "body" },
      maxJsonBytes: maxSelectionBytes,
      async run({ fields, session }) {
        const selection = parseSelection(await fields());
        const counts = await count(engine, selection);
        const id = await selections.add(session.owner, selection);
        return json({ id, ...counts } satisfies ArchiveDocument, 201);
      },
    },
    {
      method: "GET",
      path,
      needs: { right: "view", on: "bucket", in: "query" },
      async run({ query }) {
        const selection = await selections.find(query.text("id"));
        if (selection?.bucket !== query.text("bucket"))
          throw new ConsoleError(404, "This download has expired.", { hint: "Select the objects again." });
        const chunks = zipStream(files(engine, selection, now()));
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

function parseSelection(given: Fields): NewSelection {
  const texts = (name: string) => {
    const list = given.list(name) ?? [];
    const isKey = (one: unknown) => typeof one === "string" && Buffer.byteLength(one) <= limits.keyBytes;
    if (list.length <= maxNamed && list.every(isKey)) return [...new Set(list as string[])];
    throw new ConsoleError(
      400,
      `"${name}" must be at most ${maxNamed} strings of at most ${limits.keyBytes} bytes.`,
    );
  };
  const [keys, prefixes] = [texts("keys"), texts("prefixes")];
  if (keys.length + prefixes.length === 0) throw new ConsoleError(400, "Select at least one object.");
  return { bucket: given.text("bucket"), base: given.optionalText("base") ?? "", keys, prefixes };
}

/** Refuses before the download begins, because a download cannot fail with a message. */
async function count(engine: Engine, { bucket, keys, prefixes }: NewSelection) {
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
    // A selection has up to 1,000 folders: other requests run between their listings.
    await nextTurn();
  } while (cursor !== undefined);
}

async function* files(engine: Engine, selection: Selection, now: number): AsyncIterable<ZipFile> {
  const { bucket, base, keys, prefixes } = selection;
  const missing: string[] = [];
  let missed = 0;
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
    } else if (++missed <= maxMissing)
      missing.push(`${key}: ${record === undefined ? "deleted meanwhile" : "encrypted by a customer's key"}`);
  }
  if (missed === 0) return;
  if (missed > maxMissing) missing.push(`and ${missed - maxMissing} more`);
  const bytes = Buffer.from(`These objects are not in the archive:\n${missing.join("\n")}\n`);
  yield { name: "NOT INCLUDED.txt", modified: now, size: bytes.length, bytes };
}

function archiveName({ bucket, base, keys, prefixes }: Selection): string {
  const only = keys.length === 0 && prefixes.length === 1 ? prefixes[0]! : base;
  const folder = only.split("/").findLast((part) => part !== "");
  return `${folder ?? bucket}.zip`;
}
