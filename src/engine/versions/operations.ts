// The operations on versions, locks and tags.
import { StoreError } from "../../model/errors.ts";
import { limits } from "../../model/limits.ts";
import type { Context } from "../context.ts";
import type { ListedVersion } from "../records.ts";
import { deleteVersions } from "./delete-versions.ts";
import { setLegalHold, setRetention, setTags } from "./object-changes.ts";
import { restorePage, restoreVersion } from "./restore.ts";
import type { ListVersionsOptions, VersionListing, Versions } from "./versions.ts";

export function createVersions(context: Context): Versions {
  return {
    listVersions: (bucket, options = {}) => listVersions(context, bucket, options),
    deleteVersions: (bucket, targets, options = {}) => deleteVersions(context, bucket, targets, options),
    setTags: (bucket, key, tags, target = {}) => setTags(context, bucket, { key, ...target }, tags),
    setRetention: (bucket, key, retention, target = {}) =>
      setRetention(context, bucket, { key, ...target }, retention),
    setLegalHold: (bucket, key, isOnHold, target = {}) =>
      setLegalHold(context, bucket, { key, ...target }, isOnHold),
    restorePage: (bucket, options) => restorePage(context, bucket, options),
    restoreVersion: (bucket, key, version) => restoreVersion(context, bucket, key, version),
  };
}

async function listVersions(
  context: Context,
  bucket: string,
  { prefix = "", delimiter = "", after, limit = limits.listEntries }: ListVersionsOptions,
): Promise<VersionListing> {
  if (Number.isNaN(limit) || limit < 0) throw new StoreError("InvalidMaxKeys");
  const page = await context.records.versions(bucket, {
    prefix,
    delimiter,
    after,
    limit: Math.min(Math.floor(limit), limits.listEntries),
  });
  const versions: ListedVersion[] = [];
  const prefixes: string[] = [];
  for (const entry of page.entries) {
    if ("record" in entry) versions.push(entry.record);
    else prefixes.push(entry.prefix);
  }
  return { versions, prefixes, next: page.next };
}
