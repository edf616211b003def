// Section "growth": costs by objects in a bucket, by concurrency, by parts of an upload, by buckets,
// keys and uploads, and by open streams.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { linesOf } from "../draw/lines.ts";
import { costRows } from "../growth/costs.ts";
import { manyRows } from "../growth/many.ts";
import { partRows } from "../growth/parts.ts";
import { storeOf } from "../growth/stores.ts";
import { concurrencyRows, streamRows } from "../growth/widths.ts";
import type { LargeStore } from "../large-store.ts";
import type { Context, Section } from "../section.ts";

export const growth: Section = {
  name: "growth",
  description: "cost by objects (--sizes), by concurrency, by parts of an upload, and memory by open streams",
  run,
};

async function run(context: Context): Promise<void> {
  const folder = (name: string) => {
    const path = join(context.directory, name);
    mkdirSync(path);
    return path;
  };
  const kept = context.stores ?? folder("stores");
  const stores: LargeStore[] = [];
  for (const objects of context.sizes) stores.push(await storeOf(kept, objects, context.progress));
  const panels = [
    {
      title: "One operation alone, µs, objects of 1 KiB",
      across: "objects in the bucket",
      lines: await costRows(context, stores),
    },
    {
      title: "Operations a second, objects of 1 KiB",
      across: "at once",
      lines: await concurrencyRows(context, folder("wide")),
    },
    {
      title: "Multipart upload, parts of 1 KiB, µs",
      across: "parts",
      lines: await partRows(context, folder("parts")),
    },
    {
      title: "Buckets, access keys and uploads, µs",
      across: "of each",
      lines: await manyRows(context, folder("many"), context.quick ? [100, 1000] : [100, 1000, 10_000]),
    },
    {
      title: "Memory while streams are held open, MiB in all",
      across: "open streams",
      lines: await streamRows(context, folder("streams")),
    },
  ];
  context.picture((footer) => linesOf("How costs grow", panels, footer));
}
