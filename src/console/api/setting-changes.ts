// Changes a setting of a bucket, unless it was changed after the page has loaded it: the page sends
// back a mark of the value that it loaded.
import { createHash } from "node:crypto";
import type { Engine } from "../../engine/engine.ts";
import type { Bucket, BucketSettings, SettingName } from "../../model/bucket.ts";
import { ConsoleError } from "../response.ts";
import type { ChangedDocument } from "../wire-settings.ts";
import type { VersioningState } from "../wire-types.ts";

export function markSetting(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(value ?? null))
    .digest("base64url")
    .slice(0, 22);
}

export async function requireBucket(engine: Engine, bucket: string): Promise<Bucket> {
  const found = await engine.bucket(bucket);
  if (found !== undefined) return found;
  throw new ConsoleError(404, "This bucket no longer exists.");
}

/** `seen` is the mark of the setting `name` as the page loaded it. */
export async function changeSetting(
  engine: Engine,
  { name: bucket, settings }: Bucket,
  {
    name,
    changes,
    seen,
  }: { readonly name: SettingName; readonly changes: BucketSettings; readonly seen: string },
): Promise<ChangedDocument> {
  requireUnchanged({ settings }, name, seen);
  if ((await engine.changeSettings(bucket, changes, settings)) === "conflict") throw changedError();
  return { seen: markSetting(changes[name]) };
}

export function requireUnchanged(
  { settings }: Pick<Bucket, "settings">,
  name: SettingName,
  seen: string,
): void {
  if (markSetting(settings[name]) !== seen) throw changedError();
}

export function changedError(): ConsoleError {
  return new ConsoleError(409, "These settings were changed meanwhile; nothing was saved.", {
    hint: "Reload the page to see the current settings.",
  });
}

export function versioningState(bucket: Bucket | undefined): VersioningState {
  return bucket?.settings.versioning ?? "off";
}
