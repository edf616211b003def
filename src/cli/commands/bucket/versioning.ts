// `store bucket versioning`: shows, turns on or suspends the versioning of a bucket.
import type { Versioning } from "../../../model/version.ts";
import type { Command } from "../../framework/command.ts";
import { usageError } from "../../framework/command-error.ts";
import type { Output } from "../../framework/output.ts";
import { versioningSetting } from "../../settings/s3-settings.ts";
import { checkWordCount, findSettingVerb, runSetting, settingUsage } from "../../settings/setting.ts";
import { requireBucket } from "../../store/require-bucket.ts";
import { withStore } from "../../store/with-store.ts";

export const versioningCommand: Command = {
  name: "versioning",
  summary: "Show, turn on or suspend the versioning of a bucket",
  details:
    "With versioning on, a write keeps the earlier version of the object, and a delete only hides it. Suspended,\n" +
    "existing versions are kept, but new writes do not add versions. Versioning cannot be turned off again.",
  usage: ["<bucket> [on|suspend]", ...settingUsage],
  options: {},
  examples: [
    "store bucket versioning photos on",
    "store bucket versioning photos",
    "store bucket versioning set photos versioning.json",
  ],
  async run(invocation) {
    const verb = findSettingVerb(invocation.parameters, ["on", "suspend"]);
    if (verb !== undefined) return runSetting(invocation, versioningSetting, verb);
    checkWordCount(invocation);
    const { parameters, output } = invocation;
    const [bucket = "", word] = parameters;
    const change = word === undefined ? undefined : parseState(word);
    const options = { absent: "refuse", subject: { bucket } } as const;
    const state = await withStore(invocation, options, async ({ engine, recordAudit }) => {
      const { settings } = await requireBucket(engine, bucket, ["versioning"]);
      if (change === undefined) return settings.versioning;
      await engine.changeSettings(bucket, { versioning: change });
      if (settings.versioning !== change) await recordAudit("change versioning", bucket);
      return change;
    });
    await print(output, bucket, state);
  },
};

function parseState(word: string): Versioning {
  if (word === "on") return "on";
  if (word === "suspend") return "suspended";
  const hint = word === "off" ? "Versioning cannot be turned off; it can be suspended." : [];
  throw usageError(`Write on or suspend, not "${word}".`, hint);
}

async function print(output: Output, bucket: string, state: Versioning | undefined): Promise<void> {
  const versioning = state ?? "off";
  if (output.isJson) await output.json({ name: bucket, versioning });
  else await output.line(`Versioning of bucket ${output.name(bucket)} is ${versioning}.`);
}
