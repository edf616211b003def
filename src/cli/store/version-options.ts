// Which version of an object a command reads: the options --version and --at, and the errors.
import type { VersionOptions } from "../../engine/engine.ts";
import { StoreError } from "../../model/errors.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { DeleteMarker } from "../../model/version.ts";
import type { Option, ParsedOptions } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import { escapeControls } from "../framework/output.ts";
import { shellWord } from "../framework/shell-quote.ts";
import { parsePastTime, pastTimeRule } from "../framework/time-argument.ts";
import type { ObjectAddress } from "./object-address.ts";
import type { ObjectStore } from "./object-store.ts";

export const versionOption: Option = {
  value: "ID",
  summary: "a version of the object, as listed by store object versions; default: the current one",
};

/** Options of commands that read one version of an object. */
export const versionReadOptions: Readonly<Record<"version" | "at", Option>> = {
  version: versionOption,
  at: { value: "TIME", summary: `the version that was current at ${pastTimeRule}` },
};

export function parseVersionOptions(options: ParsedOptions): VersionOptions {
  const [version, at] = [options.text("version"), options.text("at")];
  if (version !== undefined && at !== undefined)
    throw usageError("--version and --at cannot be combined: both choose a version.");
  if (version === "") throw usageError("--version needs the id of a version.");
  return { version, time: at === undefined ? undefined : parsePastTime("--at", at) };
}

/** Returns the metadata of the object or version; throws if there is none. */
export async function requireObject(
  engine: Pick<ObjectStore, "head" | "describe">,
  address: ObjectAddress,
  options: VersionOptions & { readonly withTags?: boolean },
): Promise<ObjectRecord> {
  const { bucket, key } = address;
  const record = await engine.head(bucket, key, options);
  if (record !== undefined) return record;
  // Unlike `head`, `describe` returns the delete marker; it would need the key of an encrypted object.
  const found = await engine.describe(bucket, key, options);
  if (found.outcome === "missing") throw missingObjectError(address, options, found.marker);
  return found.record;
}

/** The error for a read that found no object, with the delete marker that it found instead, if any. */
export function missingObjectError(
  { bucket, key }: ObjectAddress,
  { version, time }: VersionOptions,
  marker: DeleteMarker | undefined,
): Error {
  const object = `"${escapeControls(key)}"`;
  const hint = `List its versions: ${versionsCommand({ bucket, key })}`;
  if (version !== undefined) {
    if (marker === undefined) return new StoreError("NoSuchVersion");
    return new CommandError(`The version "${version}" of ${object} is a delete marker.`, { hint });
  }
  if (time !== undefined) {
    const when = new Date(time).toISOString();
    return new CommandError(`The object ${object} did not exist in bucket "${bucket}" at ${when}.`, { hint });
  }
  if (marker === undefined) return new StoreError("NoSuchKey");
  const when = new Date(marker.uploaded).toISOString();
  return new CommandError(`The object ${object} in bucket "${bucket}" was deleted at ${when}.`, { hint });
}

export function versionsCommand(address: ObjectAddress): string {
  return `store object versions ${addressText(address)}`;
}

/** Formats an address for a command that a message suggests. */
export function addressText({ bucket, key }: ObjectAddress): string {
  return shellWord(escapeControls(`${bucket}/${key}`));
}
