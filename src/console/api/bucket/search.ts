// Searches the keys of a bucket for a text in any part of them. A request compares keys for a short
// time and returns a cursor, so that the page shows first hits early and can stop.
import { setImmediate } from "node:timers/promises";
import type { Engine } from "../../../engine/engine.ts";
import { limits } from "../../../model/limits.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import { ConsoleError, json } from "../../response.ts";
import type { Query, Route } from "../../route.ts";
import type { SearchDocument } from "../../wire-bucket.ts";
import { toObjectRow } from "../objects.ts";

const budgetMilliseconds = 300;
const maxHits = 200;

export function searchRoutes(engine: Engine, now: () => number): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/objects/search",
      needs: { right: "view", on: "bucket", in: "query" },
      async run({ query, request }) {
        let isGone = false;
        request.onDisconnect(() => {
          isGone = true;
        });
        const { hits, scanned, cursor } = await search(engine, query, () => isGone);
        const bucket = await engine.bucket(query.text("bucket"));
        const objects = hits.map((record) => toObjectRow(record, bucket, now()));
        return json({ objects, scanned, cursor } satisfies SearchDocument);
      },
    },
  ];
}

async function search(engine: Engine, query: Query, isGone: () => boolean) {
  const text = query.text("text").toLowerCase();
  if (text === "" || text.length > limits.keyBytes)
    throw new ConsoleError(400, `Search for 1 to ${limits.keyBytes} characters.`);
  const end = performance.now() + budgetMilliseconds;
  const hits: ObjectRecord[] = [];
  let scanned = 0;
  let cursor = query.optional("cursor");
  do {
    const page = await engine.list(query.text("bucket"), {
      prefix: query.text("prefix"),
      time: query.time("at"),
      limit: limits.listEntries,
      cursor,
    });
    for (const record of page.objects) if (record.key.toLowerCase().includes(text)) hits.push(record);
    scanned += page.objects.length;
    cursor = page.cursor;
    // Lets other requests run between the pages.
    await setImmediate();
  } while (cursor !== undefined && hits.length < maxHits && performance.now() < end && !isGone());
  return { hits, scanned, cursor };
}
