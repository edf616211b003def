// Searches the keys of a bucket for a text in any part of them. A request compares keys for a short
// time and returns a cursor, so that the page shows first hits early and can stop.
import { setImmediate } from "node:timers/promises";
import type { Engine } from "../../../engine/engine.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import { json } from "../../response.ts";
import type { Query, Route } from "../../route.ts";
import type { SearchDocument } from "../../wire-bucket.ts";
import { toObjectRow } from "../objects.ts";

export const budgetMilliseconds = 300;
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
  const end = performance.now() + budgetMilliseconds;
  const hits: ObjectRecord[] = [];
  let scanned = 0;
  let cursor = query.optional("cursor");
  do {
    const step = await engine.search(query.text("bucket"), {
      ...{ text: query.text("text"), prefix: query.text("prefix"), cursor, time: query.time("at") },
      limit: maxHits - hits.length,
    });
    hits.push(...step.objects);
    scanned += step.scanned;
    cursor = step.cursor;
    // Lets other requests run between the steps.
    await setImmediate();
  } while (cursor !== undefined && hits.length < maxHits && performance.now() < end && !isGone());
  return { hits, scanned, cursor };
}
