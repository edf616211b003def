// `store object head`: shows the metadata of an object or of one of its versions.
import type { Command } from "../../framework/command.ts";
import { objectAddress } from "../../store/object-address.ts";
import { objectFields, objectJson } from "../../store/object-output.ts";
import { parseVersionOptions, requireObject, versionReadOptions } from "../../store/version-options.ts";
import { withStore } from "../../store/with-store.ts";

export const headCommand: Command = {
  name: "head",
  summary: "Show the metadata of an object",
  usage: ["<bucket>/<key>"],
  options: versionReadOptions,
  examples: [
    "store object head photos/cat.jpg",
    "store object head photos/cat.jpg --json",
    "store object head photos/cat.jpg --at 2026-11-15",
  ],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const address = objectAddress(parameters[0]!);
    const versionOptions = parseVersionOptions(options);
    const subject = { ...address, version: versionOptions.version };
    const record = await withStore(invocation, { absent: "refuse", subject }, ({ engine }) =>
      requireObject(engine, address, versionOptions),
    );
    if (output.isJson) await output.json(objectJson(record));
    else await output.fields(objectFields(record, output));
  },
};
