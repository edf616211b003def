// `store object tags`: shows or replaces the tags of an object.
import type { Command } from "../../framework/command.ts";
import { objectAddress } from "../../store/object-address.ts";
import { parseTagChange, printTags } from "../../store/tags.ts";
import { requireObject, versionOption } from "../../store/version-options.ts";
import { withStore } from "../../store/with-store.ts";

export const tagsCommand: Command = {
  name: "tags",
  summary: "Show or replace the tags of an object",
  details: "The given tags replace all earlier ones. An object has at most 10 tags.",
  usage: ["<bucket>/<key> [KEY=VALUE]...", "<bucket>/<key> --clear"],
  options: { clear: { summary: "remove all tags" }, version: versionOption },
  examples: [
    "store object tags photos/cat.jpg",
    "store object tags photos/cat.jpg animal=cat place=garden",
    "store object tags photos/cat.jpg --clear",
  ],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const [name = "", ...words] = parameters;
    const address = objectAddress(name);
    const change = parseTagChange(words, options.flag("clear"));
    const version = options.text("version");
    const subject = { ...address, version };
    const { tags } = await withStore(invocation, { absent: "refuse", subject }, ({ engine }) =>
      change === undefined
        ? requireObject(engine, address, { version, withTags: true })
        : engine.setTags(address.bucket, address.key, change, { version }),
    );
    await printTags(output, name, tags ?? new Map());
  },
};
