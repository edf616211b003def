// Routes for settings of a bucket that are not rules: versioning, Object Lock, quota and tags.
import type { Engine } from "../../engine/engine.ts";
import type { Bucket, BucketSettings } from "../../model/bucket.ts";
import type { ObjectLockSetting } from "../../model/lock.ts";
import type { Publication } from "../../model/settings/publication.ts";
import { parseQuota, type Quota, type Usage } from "../../model/settings/quota.ts";
import { checkTags, maxBucketTags } from "../../model/tags.ts";
import { allows } from "../auth/roles.ts";
import type { Session } from "../auth/sessions.ts";
import { ConsoleError, json } from "../response.ts";
import type { Call, Fields, Route } from "../route.ts";
import { RoleError } from "../route-check.ts";
import type { ChangedDocument, SettingsDocument } from "../wire-settings.ts";
import { parseAccessChange, type SettingChange } from "./bucket/access-settings.ts";
import type { ConsoleBuckets } from "./bucket/console-buckets.ts";
import { isPair } from "./rule-shapes.ts";
import {
  changedError,
  changeSetting,
  markSetting,
  requireBucket,
  requireUnchanged,
  versioningState,
} from "./setting-changes.ts";

const path = "/api/settings";
const maxRetentionDays = 36_500;
const settingKinds = [
  ...["versioning", "objectLock", "tags", "quota"],
  ...["policy", "publicAccessBlock", "publication", "encryption"],
];

export function settingRoutes(engine: Engine, buckets: ConsoleBuckets): readonly Route[] {
  return [
    {
      method: "GET",
      path,
      needs: { right: "view", on: "bucket", in: "query" },
      async run({ query }) {
        const bucket = await requireBucket(engine, query.text("bucket"));
        const isLimited = bucket.settings.quota !== undefined;
        // Without a quota, some adapters would have to count all objects.
        return json(
          toSettingsDocument(bucket, isLimited ? await engine.quotas.bucketUsage(bucket.name) : null),
        );
      },
    },
    {
      method: "PUT",
      path,
      needs: { right: "administer", on: "bucket", in: "query" },
      // A policy of 20 KB, or 50 tags of any script.
      maxJsonBytes: 128 * 1024,
      run: (call) => putSetting(engine, buckets, call),
    },
  ];
}

function toSettingsDocument(bucket: Bucket, usage: Usage | null): SettingsDocument {
  const {
    versioning,
    objectLock,
    tags = [],
    quota,
    policy,
    publication,
    publicAccessBlock,
    encryption,
  } = bucket.settings;
  const retention = objectLock?.defaultRetention;
  return {
    versioning: versioningState(bucket),
    objectLock: {
      isEnabled: objectLock !== undefined,
      defaultRetention: retention === undefined ? null : { mode: retention.mode, days: retention.days },
    },
    tags,
    quota: quota ?? null,
    usage,
    policy: policy ?? null,
    publication: publication ?? null,
    publicAccessBlock: publicAccessBlock ?? null,
    isEncrypted: encryption !== undefined,
    seen: {
      versioning: markSetting(versioning),
      objectLock: markSetting(objectLock),
      tags: markSetting(bucket.settings.tags),
      quota: markSetting(quota),
      policy: markSetting(policy),
      publication: markSetting(publication),
      publicAccessBlock: markSetting(publicAccessBlock),
      encryption: markSetting(encryption),
    },
  };
}

async function putSetting(engine: Engine, buckets: ConsoleBuckets, { query, fields, session }: Call) {
  const bucket = await requireBucket(engine, query.text("bucket"));
  const given = await fields();
  const kind = query.text("kind");
  const change = parseAccessChange(kind, given, bucket, buckets) ?? parseChange(kind, given, bucket);
  const seen = given.text("seen");
  if (kind !== "publication") return json(await changeSetting(engine, bucket, { ...change, seen }));
  const { publication } = change.changes;
  requireDomainRight(bucket, publication, session);
  requireUnchanged(bucket, "publication", seen);
  // The index of public buckets changes together with the setting.
  if ((await buckets.publish(bucket, publication)) === "conflict") throw changedError();
  return json({ seen: markSetting(publication) } satisfies ChangedDocument);
}

/** A domain can be that of another bucket's or anyone's website, so it concerns the whole store. */
function requireDomainRight(bucket: Bucket, publication: Publication | undefined, { permissions }: Session) {
  const own = bucket.settings.publication?.domains ?? [];
  const isAdded = publication?.domains?.some((domain) => !own.includes(domain)) === true;
  if (isAdded && !allows(permissions, "administer"))
    throw new RoleError({ right: "administer", bucket: undefined });
}

function parseChange(kind: string, given: Fields, { settings }: Bucket): SettingChange {
  switch (kind) {
    case "versioning":
      return { name: "versioning", changes: { versioning: parseVersioning(given) } };
    case "objectLock": {
      const objectLock = parseObjectLock(given);
      // Object Lock needs versioning, so that enabling it turns versioning on.
      const changes: BucketSettings =
        settings.versioning === "on" ? { objectLock } : { objectLock, versioning: "on" };
      return { name: "objectLock", changes };
    }
    case "tags":
      return { name: "tags", changes: { tags: parseTags(given) } };
    case "quota":
      return { name: "quota", changes: { quota: readQuota(given) } };
    default:
      throw new ConsoleError(400, `"kind" must be one of ${settingKinds.join(", ")}.`);
  }
}

function parseVersioning(given: Fields): "on" | "suspended" {
  const versioning = given.text("versioning");
  if (versioning === "on" || versioning === "suspended") return versioning;
  throw new ConsoleError(400, '"versioning" must be on or suspended.');
}

function parseObjectLock(given: Fields): ObjectLockSetting {
  const retention = given.object("defaultRetention");
  if (retention === undefined) return {};
  const { mode, days } = retention;
  if (mode !== "governance" && mode !== "compliance")
    throw new ConsoleError(400, "The mode must be governance or compliance.");
  const isPeriod =
    typeof days === "number" && Number.isInteger(days) && days >= 1 && days <= maxRetentionDays;
  if (!isPeriod) throw new ConsoleError(400, `Write a whole number of days, from 1 to ${maxRetentionDays}.`);
  return { defaultRetention: { mode, days } };
}

/** Returns undefined to remove the quota. */
function readQuota(given: Fields): Quota | undefined {
  const fields = given.object("quota");
  const quota = fields && parseQuota(fields);
  if (fields === undefined || quota !== undefined) return quota;
  throw new ConsoleError(400, "A maximum must be a number, or empty for no limit.");
}

function parseTags(given: Fields): BucketSettings["tags"] {
  const tags = given.list("tags") ?? [];
  if (!tags.every(isPair)) throw new ConsoleError(400, '"tags" must be pairs of strings.');
  const byKey = new Map(tags);
  if (byKey.size < tags.length) throw new ConsoleError(400, "Each tag must have a different name.");
  checkTags(byKey, maxBucketTags);
  return tags.length === 0 ? undefined : tags;
}
