// Section "many": costs by the number of buckets, access keys and open uploads.
import { linesOf } from "../draw/lines.ts";
import { manyRows } from "../growth/many.ts";
import type { Section } from "../section.ts";

export const many: Section = {
  name: "many",
  description: "costs with 100,000 buckets and access keys and a million open uploads",
  async run(context) {
    const counts = context.quick ? [100, 1000] : [1000, 10_000, 100_000];
    const lines = await manyRows(context, context.directory, counts);
    const panel = { title: "One operation alone, µs", across: "buckets and access keys", lines };
    context.picture((footer) => linesOf("How costs grow with buckets, keys and uploads", [panel], footer));
  },
};
