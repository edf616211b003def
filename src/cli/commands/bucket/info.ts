// `store bucket info`: shows the number and size of a bucket's objects, and its protection.
import type { Totals } from "../../../engine/records.ts";
import type { Bucket, BucketRecord } from "../../../model/bucket.ts";
import type { Command } from "../../framework/command.ts";
import { formatCount, type Output } from "../../framework/output.ts";
import { requireBucket } from "../../store/require-bucket.ts";
import { withStore } from "../../store/with-store.ts";
import { describeObjectLock } from "./object-lock.ts";

export const infoCommand: Command = {
  name: "info",
  summary: "Show the number and size of a bucket's objects and versions",
  usage: ["<name>"],
  options: {},
  examples: ["store bucket info photos"],
  async run(invocation) {
    const { parameters, output } = invocation;
    const [name = ""] = parameters;
    await withStore(invocation, { absent: "refuse", subject: { bucket: name } }, async ({ engine }) => {
      const bucket = await requireBucket(engine, name, ["versioning", "objectLock", "lockRules", "tags"]);
      const totals = await engine.totals(name);
      if (output.isJson) await output.json(infoJson(bucket, totals));
      else await output.fields([...infoFields(bucket, totals, output), ...settingFields(bucket)]);
    });
  },
};

export function bucketJson({ name, created, storageClass }: BucketRecord) {
  return { name, created: new Date(created).toISOString(), storageClass };
}

function infoJson(bucket: Bucket, { objects, bytes, noncurrentVersions, noncurrentBytes }: Totals) {
  const { versioning = "off", objectLock, lockRules = [], tags = [] } = bucket.settings;
  return {
    ...bucketJson(bucket),
    objects,
    bytes,
    versioning,
    noncurrentVersions,
    noncurrentBytes,
    objectLock: objectLock !== undefined,
    lockRules: lockRules.length,
    tags: Object.fromEntries(tags),
  };
}

type Field = readonly [name: string, value: string];

function infoFields(bucket: Bucket, totals: Totals, output: Output): Field[] {
  const { versioning } = bucket.settings;
  const versionFields: Field[] = [
    ["versioning", versioning ?? "off"],
    ["noncurrent versions", String(totals.noncurrentVersions)],
    ["noncurrent size", output.bytes(totals.noncurrentBytes)],
  ];
  return [
    ["name", bucket.name],
    ["created", output.time(bucket.created)],
    ["storage class", bucket.storageClass],
    ["objects", String(totals.objects)],
    ["size", output.bytes(totals.bytes)],
    ...(versioning === undefined ? [] : versionFields),
  ];
}

/** Settings that most buckets do not have are shown only if they are set. */
function settingFields({ settings }: Bucket): Field[] {
  const { objectLock, lockRules = [], tags = [] } = settings;
  return [
    ...(objectLock === undefined ? [] : [["object lock", describeObjectLock(objectLock)] as const]),
    ...(lockRules.length === 0 ? [] : [["locks", formatCount(lockRules.length, "rule")] as const]),
    ...tags.map(([key, value]) => [`tag ${key}`, value] as const),
  ];
}
