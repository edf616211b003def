// `store bucket lifecycle`, `cors` and `quota`: show, replace and delete a setting as a document.
import type { Command } from "../../framework/command.ts";
import { usageError } from "../../framework/command-error.ts";
import { quotaSetting } from "../../settings/own-settings.ts";
import { corsSetting, lifecycleSetting } from "../../settings/s3-settings.ts";
import { type AnySetting, findSettingVerb, runSetting, settingUsage } from "../../settings/setting.ts";

function documentCommand(setting: AnySetting, command: Omit<Command, "usage" | "options" | "run">): Command {
  return {
    ...command,
    usage: settingUsage,
    options: {},
    async run(invocation) {
      const verb = findSettingVerb(invocation.parameters);
      if (verb !== undefined) return runSetting(invocation, setting, verb);
      const { name } = command;
      throw usageError(`There is no "store bucket ${name} ${invocation.parameters[0]}".`, [
        "Use one of: get, set, delete",
        `For example: store bucket ${name} get photos`,
      ]);
    },
  };
}

export const lifecycleCommand = documentCommand(lifecycleSetting, {
  name: "lifecycle",
  summary: "Expire or transition objects and clean up incomplete uploads, by age",
  details:
    "The file is JSON as aws s3api put-bucket-lifecycle-configuration takes it, or S3's XML; - is standard input.\n" +
    "set replaces all rules. Without rules, incomplete uploads are aborted after 7 days; after delete, they are kept.",
  examples: [
    "store bucket lifecycle get photos",
    "store bucket lifecycle set photos lifecycle.json",
    "store bucket lifecycle delete photos",
  ],
});

export const corsCommand = documentCommand(corsSetting, {
  name: "cors",
  summary: "Show or change which web pages of other origins may access a bucket",
  details:
    "The file is JSON as aws s3api put-bucket-cors takes it, or S3's XML; - is standard input.\n" +
    "set replaces all rules. Without rules, cross-origin requests are blocked.",
  examples: [
    "store bucket cors get photos",
    "store bucket cors set photos cors.json",
    "store bucket cors delete photos",
  ],
});

export const bucketQuotaCommand = documentCommand(quotaSetting, {
  name: "quota",
  summary: "Show or change the quota of a bucket as a document",
  details:
    'The file is JSON with "bytes", "objects" or both; - is standard input. store quota sets it by options,\n' +
    "and also sets quotas of accounts.",
  examples: ["store bucket quota get photos", "store bucket quota set photos quota.json"],
});
