// `store key rotate | disable | enable`: what changes of an access key while clients use it. Servers that run take
// each change in with their next request.
import { createCredentials } from "../../s3/auth/credentials.ts";
import { parseDuration } from "../../s3/auth/grants.ts";
import type { Command } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import { type Data, withData } from "../store/open-store.ts";

export const rotateCommand: Command = {
  name: "rotate",
  summary: "Give an access key a new secret",
  details: "With --keep the secret before is taken for a while more, so that no client falls out.",
  usage: ["<access-key-id>"],
  options: {
    keep: {
      value: "TIME",
      summary: "how long the secret before is still taken, such as 1h; not at all unless given",
    },
  },
  examples: ["store key rotate STOREABCDEFGHIJKLMNO --keep 24h"],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const [accessKeyId = ""] = parameters;
    const keep = options.text("keep");
    const milliseconds = keep === undefined ? 0 : parseDurationOption(keep);
    const rotated = await withData(invocation, { absent: "refuse" }, async (data) => {
      const key = await openCredentials(data).rotate(accessKeyId, milliseconds);
      if (key !== undefined) await data.recordAudit("rotate key", accessKeyId);
      return key;
    });
    if (rotated === undefined) throw noSuchKey(accessKeyId);
    const { secretAccessKey, previousUntil } = rotated;
    const until = previousUntil === undefined ? null : new Date(previousUntil).toISOString();
    if (output.isJson) return output.json({ accessKeyId, secretAccessKey, previousUntil: until });
    await output.fields([
      ["access key id", accessKeyId],
      ["secret access key", secretAccessKey],
      [
        "secret before",
        previousUntil === undefined ? "no longer taken" : `taken until ${output.time(previousUntil)}`,
      ],
    ]);
    output.note("Keep the secret access key: it is not shown again.");
  },
};

export const disableCommand = stateCommand("disable", "Refuse an access key until it is enabled again");
export const enableCommand = stateCommand("enable", "Take an access key again that was disabled");

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
      const isFound = await withData(invocation, { absent: "refuse" }, async (data) => {
        const isDone = await openCredentials(data)[name](accessKeyId);
        if (isDone) await data.recordAudit(`${name} key`, accessKeyId);
        return isDone;
      });
      if (!isFound) throw noSuchKey(accessKeyId);
      const state = `${name}d`;
      if (output.isJson) await output.json({ accessKeyId, [state]: true });
      else await output.line(`Access key ${output.name(accessKeyId)} is ${state}.`);
    },
  };
}

export function openCredentials({ documents, secretKey }: Data) {
  return createCredentials(documents, secretKey(), Date.now);
}

export function noSuchKey(accessKeyId: string): CommandError {
  return new CommandError(`There is no access key "${accessKeyId}".`, {
    hint: "See which there are: store key list",
  });
}

function parseDurationOption(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw error instanceof RangeError ? usageError(error.message) : error;
  }
}
