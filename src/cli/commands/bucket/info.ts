// `store bucket info`: shows the number and size of a bucket's objects, its access and its settings.
import { cachedPolicy } from "../../../access/policy/cache.ts";
import { isPublicPolicy } from "../../../access/policy/public-status.ts";
import type { Totals } from "../../../engine/records.ts";
import type { Bucket, BucketRecord } from "../../../model/bucket.ts";
import type { Quota } from "../../../model/settings/quota.ts";
import type { Command } from "../../framework/command.ts";
import { formatCount, type Output } from "../../framework/output.ts";
import type { OpenStore } from "../../store/object-store.ts";
import { requireBucket } from "../../store/require-bucket.ts";
import { withStore } from "../../store/with-store.ts";
import { describeObjectLock } from "./object-lock.ts";
import { publicationText } from "./public.ts";

export const infoCommand: Command = {
  name: "info",
  summary: "Show the number and size of a bucket's objects, its access and its settings",
  usage: ["<name>"],
  options: {},
  examples: ["store bucket info photos"],
  async run(invocation) {
    const { parameters, output } = invocation;
    const [name = ""] = parameters;
    await withStore(invocation, { absent: "refuse", subject: { bucket: name } }, async (store) => {
      const bucket = await requireBucket(store.engine, name);
      const totals = await store.engine.totals(name);
      if (output.isJson) await output.json(infoJson(bucket, totals, store));
      else
        await output.fields([
          ...infoFields(bucket, totals, output),
          ...accessFields(bucket, store, output),
          ...settingFields(bucket),
        ]);
    });
  },
};

export function bucketJson({ name, created, storageClass }: BucketRecord) {
  return { name, created: new Date(created).toISOString(), storageClass };
}

function infoJson(bucket: Bucket, totals: Totals, store: OpenStore) {
  const { objects, bytes, noncurrentVersions, noncurrentBytes } = totals;
  const { versioning = "off", objectLock, lockRules = [], tags = [], ...others } = bucket.settings;
  const { publication, quota, cors = [], lifecycle = [], notifications = [] } = others;
  return {
    ...bucketJson(bucket),
    objects,
    bytes,
    versioning,
    noncurrentVersions,
    noncurrentBytes,
    ...(isService(store) ? {} : { public: publication ?? null, quota: quota ?? null }),
    policy: policyState(bucket) ?? null,
    encryption: encryptionState(bucket, store),
    objectLock: objectLock !== undefined,
    lockRules: lockRules.length,
    corsRules: cors.length,
    lifecycleRules: lifecycle.length,
    notificationRules: notifications.length,
    tags: Object.fromEntries(tags),
  };
}

type Field = readonly [name: string, value: string];

function infoFields(bucket: Bucket, totals: Totals, output: Output): Field[] {
  const { versioning } = bucket.settings;
  const versionFields: Field[] = [
    ["noncurrent versions", String(totals.noncurrentVersions)],
    ["noncurrent size", output.bytes(totals.noncurrentBytes)],
  ];
  return [
    ["name", bucket.name],
    ["created", output.time(bucket.created)],
    ["storage class", bucket.storageClass],
    ["objects", String(totals.objects)],
    ["size", output.bytes(totals.bytes)],
    ["versioning", versioning ?? "off"],
    ...(versioning === undefined ? [] : versionFields),
  ];
}

/** A service does not say whether a bucket is published, or which quota it has. */
function isService({ documents }: OpenStore): boolean {
  return documents === undefined;
}

/** Always shown: an absent line must not leave open whether a bucket is public. */
function accessFields(bucket: Bucket, store: OpenStore, output: Output): Field[] {
  const { publication, quota, lifecycle } = bucket.settings;
  const both: Field[] = [
    ["policy", policyTexts[policyState(bucket) ?? "none"]],
    ["encryption", encryptionState(bucket, store)],
  ];
  if (isService(store)) return both;
  return [
    ["public", publication === undefined ? "no" : publicationText(publication)],
    ...both,
    ["quota", quota === undefined ? "none" : quotaText(quota, output)],
    ...(lifecycle === undefined ? [["lifecycle", defaultLifecycleText] as const] : []),
  ];
}

/** The S3 API answers that there are no rules, so this is where an operator sees the default. */
const defaultLifecycleText = "default: incomplete uploads are aborted after 7 days";

const policyTexts = {
  none: "none",
  public: "public: it allows something to everyone",
  "not public": "not public",
  invalid: "not valid: it allows nothing",
} as const;

function policyState({ name, settings }: Bucket): "public" | "not public" | "invalid" | undefined {
  if (settings.policy === undefined) return undefined;
  const policy = cachedPolicy(settings.policy, name);
  if (policy === "invalid") return policy;
  return isPublicPolicy(policy) ? "public" : "not public";
}

function encryptionState({ settings }: Bucket, { encryption }: OpenStore): "on" | "off" {
  return settings.encryption !== undefined || encryption === "always" ? "on" : "off";
}

function quotaText({ bytes, objects }: Quota, output: Output): string {
  return [
    ...(bytes === undefined ? [] : [output.size(bytes)]),
    ...(objects === undefined ? [] : [formatCount(objects, "object")]),
  ].join(", ");
}

/** Settings that most buckets do not have are shown only if they are set. */
function settingFields({ settings }: Bucket): Field[] {
  const { objectLock, lockRules = [], cors = [], lifecycle = [], notifications = [], tags = [] } = settings;
  const counts = { locks: lockRules, cors, lifecycle, notifications };
  return [
    ...(objectLock === undefined ? [] : [["object lock", describeObjectLock(objectLock)] as const]),
    ...Object.entries(counts).flatMap(([name, rules]) =>
      rules.length === 0 ? [] : [[name, formatCount(rules.length, "rule")] as const],
    ),
    ...tags.map(([key, value]) => [`tag ${key}`, value] as const),
  ];
}
