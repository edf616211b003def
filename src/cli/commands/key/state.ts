// `store key rotate | disable | enable`: changes an access key. Running servers apply the change to
// their next request.

import { parseDuration } from "../../../access/grants.ts";
import type { Command } from "../../framework/command.ts";
import { CommandError, parseOrUsageError } from "../../framework/command-error.ts";
import { withKeys } from "./key-store.ts";

export const rotateCommand: Command = {
  name: "rotate",
  summary: "Replace the secret of an access key",
  details:
    "With --keep the previous secret stays valid for a while, so that clients can switch without errors.",
  usage: ["<access-key-id>"],
  options: {
    keep: {
      value: "TIME",
      summary: "how long the previous secret stays valid, such as 1h; default: not at all",
    },
  },
  examples: ["store key rotate STOREABCDEFGHIJKLMNO --keep 24h"],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const [accessKeyId = ""] = parameters;
    const keep = options.text("keep");
    const milliseconds = keep === undefined ? 0 : parseOrUsageError(() => parseDuration(keep));
    const rotated = await withKeys(invocation, "refuse", (keys) =>
      keys.rotate(accessKeyId, { text: keep, milliseconds }),
    );
    if (rotated === undefined) throw noSuchKey(accessKeyId);
    const { secretAccessKey, previousUntil } = rotated;
    const until = previousUntil === undefined ? null : new Date(previousUntil).toISOString();
    if (output.isJson) return output.json({ accessKeyId, secretAccessKey, previousUntil: until });
    await output.fields([
      ["access key id", accessKeyId],
      ["secret access key", secretAccessKey],
      [
        "previous secret",
        previousUntil === undefined ? "no longer valid" : `valid until ${output.time(previousUntil)}`,
      ],
    ]);
    output.note("Save the secret access key now: it is not shown again.");
  },
};

export const disableCommand = stateCommand("disable", "Disable an access key until it is enabled again");
export const enableCommand = stateCommand("enable", "Enable a disabled access key");

function stateCommand(name: "disable" | "enable", summary: string): Command {
  return {
    name,
    summary,
    usage: ["<access-key-id>"],
    options: {},
    examples: [`store key ${name} STOREABCDEFGHIJKLMNO`],
    async run(invocation) {
      const { parameters, output } = invocation;
      const [accessKeyId = ""] = parameters;
      const isFound = await withKeys(invocation, "refuse", (keys) => keys.change(accessKeyId, name));
      if (!isFound) throw noSuchKey(accessKeyId);
      const state = `${name}d`;
      if (output.isJson) await output.json({ accessKeyId, [state]: true });
      else await output.line(`Access key ${output.name(accessKeyId)} is ${state}.`);
    },
  };
}

export function noSuchKey(accessKeyId: string): CommandError {
  return new CommandError(`There is no access key "${accessKeyId}".`, {
    hint: "List access keys: store key list",
  });
}
