// Routes for buckets: list, totals, create and delete.
import type { Engine } from "../../engine/engine.ts";
import type { Totals } from "../../engine/records.ts";
import { allows } from "../auth/roles.ts";
import { json, noContent } from "../response.ts";
import type { Route } from "../route.ts";
import type { BucketDocument, BucketsDocument, TotalsDocument } from "../wire-types.ts";
import type { ConsoleKeys } from "./administration/keys.ts";
import type { ConsoleBuckets } from "./bucket/console-buckets.ts";

export function bucketRoutes(
  engine: Engine,
  keys: Pick<ConsoleKeys, "endGrants">,
  consoleBuckets: Pick<ConsoleBuckets, "listPublic">,
): readonly Route[] {
  const countTotals = shareTotals(engine);
  return [
    {
      method: "GET",
      path: "/api/buckets",
      needs: { on: "nothing" },
      async run({ session }) {
        const all = await engine.listBuckets();
        const isPublic = await consoleBuckets.listPublic();
        const buckets = all
          .filter(({ name }) => allows(session.permissions, "view", name))
          .map((bucket) => ({ ...bucket, isPublic: isPublic.has(bucket.name) }));
        return json({ buckets } satisfies BucketsDocument);
      },
    },
    {
      // Totals have their own route, so that the list does not wait for slow counts.
      method: "GET",
      path: "/api/buckets/totals",
      needs: { right: "view", on: "bucket", in: "query" },
      async run({ query }) {
        return json((await countTotals(query.text("bucket"))) satisfies TotalsDocument);
      },
    },
    {
      method: "POST",
      path: "/api/buckets",
      needs: { right: "administer", on: "store" },
      async run({ fields }) {
        const given = await fields();
        const storageClass = given.optionalText("storageClass");
        const bucket = await engine.createBucket(given.text("name"), { storageClass });
        return json(bucket satisfies BucketDocument, 201);
      },
    },
    {
      method: "DELETE",
      path: "/api/buckets",
      needs: { right: "administer", on: "bucket", in: "query" },
      async run({ query }) {
        const bucket = await engine.bucket(query.text("bucket"));
        await engine.deleteBucket(query.text("bucket"));
        if (bucket !== undefined) await keys.endGrants(bucket);
        return noContent();
      },
    },
  ];
}

/** In a cluster a count reads the whole bucket, so requests that arrive meanwhile share it. */
function shareTotals(engine: Pick<Engine, "totals">): Engine["totals"] {
  const counting = new Map<string, Promise<Totals>>();
  return (bucket) => {
    const running = counting.get(bucket);
    if (running !== undefined) return running;
    const count = engine.totals(bucket).finally(() => counting.delete(bucket));
    counting.set(bucket, count);
    return count;
  };
}
