// Routes for the history of a bucket: objects that are deleted, and a restore to a time.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Engine } from "../../engine/engine.ts";
import { isDeleteMarker } from "../../model/version.ts";
import { ConsoleError, json } from "../response.ts";
import { maxTime, type Query, type Route } from "../route.ts";
import type { DeletedObjectsDocument, DeletedRow, RestoredDocument } from "../wire-types.ts";
import { requireBucket, versioningState } from "./setting-changes.ts";
import { formatVersionCursor, parseVersionCursor } from "./versions.ts";

/** Versions in one request: a bucket may have few deleted objects among many. */
export const maxExamined = 5000;
/** Other requests run between two listings. */
const listedVersions = 100;
const pageRows = 200;

export function historyRoutes(engine: Engine): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/objects/deleted",
      needs: { right: "view", on: "bucket", in: "query" },
      async run({ query }) {
        return json((await listDeleted(engine, query)) satisfies DeletedObjectsDocument);
      },
    },
    {
      method: "POST",
      path: "/api/objects/restore",
      needs: { right: "edit", on: "bucket", in: "body" },
      async run({ fields }) {
        const given = await fields();
        const time = given.number("time");
        if (!Number.isInteger(time) || time < 0 || time > maxTime)
          throw new ConsoleError(400, '"time" must be in milliseconds since 1970.');
        const { restored, deleted, unchanged, cursor } = await engine.restorePage(given.text("bucket"), {
          time,
          prefix: given.optionalText("prefix"),
          isDryRun: given.flag("isDryRun"),
          cursor: given.optionalText("cursor"),
        });
        const counts = { restored: restored.length, deleted: deleted.length, unchanged, cursor };
        return json(counts satisfies RestoredDocument);
      },
    },
  ];
}

async function listDeleted(engine: Engine, query: Query): Promise<DeletedObjectsDocument> {
  const bucket = await requireBucket(engine, query.text("bucket"));
  const objects: DeletedRow[] = [];
  const prefixes: string[] = [];
  let after = parseVersionCursor(query.optional("cursor"));
  for (let examined = 0; examined < maxExamined; examined += listedVersions) {
    const page = await engine.listVersions(bucket.name, {
      prefix: query.text("prefix"),
      delimiter: query.optional("delimiter"),
      after,
      limit: listedVersions,
    });
    prefixes.push(...page.prefixes);
    for (const { version, isCurrent } of page.versions) {
      if (isCurrent && isDeleteMarker(version)) objects.push({ key: version.key, deleted: version.uploaded });
    }
    after = page.next;
    if (after === undefined || objects.length + prefixes.length >= pageRows) break;
    await nextTurn();
  }
  return { prefixes, objects, versioning: versioningState(bucket), cursor: formatVersionCursor(after) };
}
