// Fuzz targets of the command line: command lookup and argument parsing.
import { findCommand } from "../../../src/cli/catalog.ts";
import { readArguments, readCommandLine } from "../../../src/cli/framework/arguments.ts";
import { isGroup } from "../../../src/cli/framework/command.ts";
import { CommandError } from "../../../src/cli/framework/command-error.ts";
import { objectAddress, prefixAddress } from "../../../src/cli/store/object-address.ts";
import { holds, kindOf, type Target } from "./target.ts";

/** Sample command lines. In an input, each argument is on its own line. */
const lines = [
  ["bucket", "create", "photos", "--json"],
  ["object", "put", "photos/cat.jpg", "cat.jpg", "--content-type=image/jpeg", "--data", "dir"],
  ["--json", "object", "list", "photos/2026", "--delimiter", "/", "--limit=5"],
  ["key", "create", "--grant", "photos:read", "--expires", "30d", "-h"],
  ["dev", "--config", "a.toml", "--config", "b.toml", "--port", "8000"],
  ["secret", "put", "NAME", "--", "--value"],
  ["help", "bucket"],
];

export const cliTargets: readonly Target[] = [
  {
    name: "command lines",
    form: "text",
    samples: lines.map((line) => line.join("\n")),
    tokens: [
      "--",
      "-",
      "--json",
      "\n",
      "--=",
      "--a=b",
      "-abc",
      "--no-json",
      "--__proto__",
      "--help=",
      "-h",
      "create",
      "list",
    ],
    longest: 16_384,
    open: () => ({
      async run(input) {
        const args = input.split("\n");
        const line = readCommandLine(args);
        if (line.words.length === 0) return "no command";
        const { entry, path } = await findCommand(line.words);
        // Like the CLI itself: --help takes precedence over running the command.
        if (line.wantsHelp) return `help ${path}`;
        if (isGroup(entry)) return `group ${path}`;
        const { parameters } = readArguments(path, entry, line.withoutWords(path.split(" ").length));
        holds(
          parameters.every((parameter) => args.includes(parameter)),
          "has a parameter that is not among the arguments",
        );
        const [first] = parameters;
        if (first !== undefined) {
          const { bucket, prefix } = prefixAddress(first);
          holds(first.startsWith(bucket) && first.endsWith(prefix), "parses to another address");
          objectAddress(first);
        }
        return path;
      },
      outcomeOf(error) {
        return error instanceof CommandError ? kindOf(error.message) : undefined;
      },
    }),
  },
];
