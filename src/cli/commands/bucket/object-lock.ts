// `store bucket object-lock`: shows or enables Object Lock, and sets the default retention.
import type { BucketSettings } from "../../../model/bucket.ts";
import type { ObjectLockSetting } from "../../../model/lock.ts";
import type { Command, Invocation, ParsedOptions } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import { formatCount, type Output } from "../../framework/output.ts";
import { objectLockSetting } from "../../settings/s3-settings.ts";
import { checkWordCount, findSettingVerb, runSetting, settingUsage } from "../../settings/setting.ts";
import type { ObjectStore } from "../../store/object-store.ts";
import { requireBucket } from "../../store/require-bucket.ts";
import { parseDays, parseMode } from "../../store/retention-options.ts";
import { withStore } from "../../store/with-store.ts";

export const objectLockCommand: Command = {
  name: "object-lock",
  summary: "Show or enable Object Lock of a bucket, or set its default retention",
  details:
    "With Object Lock, versions can be kept from deletion until a date or while a legal hold is on. Enabling it turns\n" +
    "versioning on; neither can be undone. The default retention applies to new objects without their own. Governance\n" +
    "retention can be bypassed with --bypass-governance; compliance retention cannot be shortened by anyone.",
  usage: [
    "<bucket>",
    "<bucket> enable",
    "<bucket> default --mode MODE --days N",
    "<bucket> default --none",
    ...settingUsage,
  ],
  options: {
    mode: { value: "MODE", summary: "default retention: governance or compliance" },
    days: { value: "N", summary: "days that a new version is retained" },
    none: { summary: "remove the default retention" },
  },
  examples: [
    "store bucket object-lock records enable",
    "store bucket object-lock records default --mode governance --days 30",
    "store bucket object-lock records",
    "store bucket object-lock set records object-lock.json",
  ],
  async run(invocation) {
    const verb = findSettingVerb(invocation.parameters, ["enable", "default"]);
    if (verb !== undefined) return runSetting(invocation, objectLockSetting, verb);
    checkWordCount(invocation);
    const { parameters, output } = invocation;
    const [bucket = ""] = parameters;
    const change = parseChange(invocation);
    const options = { absent: "refuse", subject: { bucket } } as const;
    const setting = await withStore(invocation, options, async ({ engine, recordAudit }) => {
      if (change === undefined)
        return (await requireBucket(engine, bucket, ["objectLock", "versioning"])).settings.objectLock;
      const changed = await changeObjectLock(engine, bucket, change);
      await recordAudit("change object lock", bucket);
      return changed;
    });
    await print(output, bucket, setting);
  },
};

type Change =
  | { readonly kind: "enable" }
  | { readonly kind: "default"; readonly retention: ObjectLockSetting["defaultRetention"] };

function parseChange({ parameters, options }: Invocation): Change | undefined {
  const [bucket, verb] = parameters;
  if (verb === "default") return { kind: "default", retention: parseRetention(options) };
  if (["mode", "days"].some((name) => options.text(name) !== undefined) || options.flag("none")) {
    throw usageError(
      "--mode, --days and --none set the default retention.",
      `Write: store bucket object-lock ${bucket} default …`,
    );
  }
  if (verb === undefined) return undefined;
  if (verb === "enable") return { kind: "enable" };
  throw usageError(`Write enable or default, not "${verb}".`);
}

function parseRetention(options: ParsedOptions): ObjectLockSetting["defaultRetention"] {
  const [mode, days] = [options.text("mode"), options.text("days")];
  const isNone = options.flag("none");
  if (isNone && mode === undefined && days === undefined) return undefined;
  if (isNone || mode === undefined || days === undefined)
    throw usageError("Specify the default retention: --mode MODE --days N, or --none");
  return { mode: parseMode(mode), days: parseDays(days) };
}

async function changeObjectLock(
  engine: ObjectStore,
  bucket: string,
  change: Change,
): Promise<ObjectLockSetting> {
  for (;;) {
    const { settings } = await requireBucket(engine, bucket, ["objectLock", "versioning"]);
    const { objectLock, versioning } = settings;
    if (change.kind === "enable" && objectLock !== undefined) return objectLock;
    if (change.kind === "default" && objectLock === undefined) {
      throw new CommandError(`Object Lock of bucket "${bucket}" is not enabled.`, {
        hint: `Enable it: store bucket object-lock ${bucket} enable`,
      });
    }
    const retention = change.kind === "default" ? change.retention : undefined;
    const setting = retention === undefined ? {} : { defaultRetention: retention };
    const changes: BucketSettings =
      versioning === "on" ? { objectLock: setting } : { objectLock: setting, versioning: "on" };
    if ((await engine.changeSettings(bucket, changes, settings)) === "committed") return setting;
  }
}

async function print(output: Output, bucket: string, setting: ObjectLockSetting | undefined): Promise<void> {
  const retention = setting?.defaultRetention;
  if (output.isJson) {
    const shown = retention === undefined ? null : { mode: retention.mode, days: retention.days };
    return output.json({ name: bucket, objectLock: setting !== undefined, defaultRetention: shown });
  }
  await output.line(`Object Lock of bucket ${output.name(bucket)} is ${describeObjectLock(setting)}.`);
}

export function describeObjectLock(setting: ObjectLockSetting | undefined): string {
  if (setting === undefined) return "not enabled";
  const { defaultRetention } = setting;
  if (defaultRetention === undefined) return "enabled, without a default retention";
  const { mode, days } = defaultRetention;
  return `enabled, with a default retention of ${formatCount(days, "day")} (${mode})`;
}
