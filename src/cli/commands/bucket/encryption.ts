// `store bucket encryption`: shows, turns on or turns off the default encryption of a bucket.
import type { Command } from "../../framework/command.ts";
import { usageError } from "../../framework/command-error.ts";
import { encryptionSetting } from "../../settings/s3-settings.ts";
import { checkWordCount, findSettingVerb, runSetting, settingUsage } from "../../settings/setting.ts";
import { requireBucket } from "../../store/require-bucket.ts";
import { withStore } from "../../store/with-store.ts";

export const bucketEncryptionCommand: Command = {
  name: "encryption",
  summary: "Show, turn on or turn off the default encryption of a bucket",
  details:
    "With encryption on, new objects are encrypted with the store's keys, also if a client does not ask for it.\n" +
    "Existing objects stay as they are; encrypt them with: store encryption apply --bucket NAME",
  usage: ["<bucket> [on|off]", ...settingUsage],
  options: {},
  examples: [
    "store bucket encryption photos on",
    "store bucket encryption photos",
    "store bucket encryption set photos encryption.json",
  ],
  async run(invocation) {
    const verb = findSettingVerb(invocation.parameters, ["on", "off"]);
    if (verb !== undefined) return runSetting(invocation, encryptionSetting, verb);
    checkWordCount(invocation);
    const { parameters, output } = invocation;
    const [bucket = "", word] = parameters;
    if (word !== undefined && word !== "on" && word !== "off")
      throw usageError(`Write on or off, not "${word}".`);
    const options = { absent: "refuse", subject: { bucket } } as const;
    const state = await withStore(invocation, options, async (data) => {
      const { engine, recordAudit } = data;
      const { settings } = await requireBucket(engine, bucket, ["encryption"]);
      const isOn = settings.encryption !== undefined;
      if (word === undefined || isOn === (word === "on")) return isOn ? "on" : "off";
      // Fails here, not at the first write, if the secret key is missing.
      if (word === "on") data.secretKey?.();
      await engine.changeSettings(bucket, {
        encryption: word === "on" ? { algorithm: "AES256" } : undefined,
      });
      await recordAudit("change encryption", bucket);
      return word;
    });
    if (output.isJson) await output.json({ name: bucket, encryption: state });
    else await output.line(`Encryption of bucket ${output.name(bucket)} is ${state}.`);
  },
};
