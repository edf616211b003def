// `store bucket tags`: shows or replaces the tags of a bucket.
import type { Command } from "../../framework/command.ts";
import { requireBucket } from "../../store/require-bucket.ts";
import { parseTagChange, printTags } from "../../store/tags.ts";
import { withStore } from "../../store/with-store.ts";

export const tagsCommand: Command = {
  name: "tags",
  summary: "Show or replace the tags of a bucket",
  details: "The given tags replace all earlier ones. A bucket has at most 50 tags.",
  usage: ["<bucket> [KEY=VALUE]...", "<bucket> --clear"],
  options: { clear: { summary: "remove all tags" } },
  examples: ["store bucket tags photos team=web stage=test", "store bucket tags photos --clear"],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const [bucket = "", ...words] = parameters;
    const change = parseTagChange(words, options.flag("clear"));
    const dataOptions = { absent: "refuse", subject: { bucket } } as const;
    const tags = await withStore(invocation, dataOptions, async ({ engine, recordAudit }) => {
      const { settings } = await requireBucket(engine, bucket, ["tags"]);
      if (change === undefined) return new Map(settings.tags);
      await engine.changeSettings(bucket, { tags: change.size === 0 ? undefined : [...change] });
      await recordAudit("change tags", bucket);
      return change;
    });
    await printTags(output, bucket, tags);
  },
};
