// Evaluates the condition of a put or of the completion of an upload.
import type { Bucket } from "../model/bucket.ts";
import {
  type Clause,
  type Condition,
  findFailedClause,
  findFailedClauseWhenMissing,
} from "../model/condition.ts";
import type { Key } from "../model/key.ts";
import { isDeleteMarker, nullVersion } from "../model/version.ts";
import type { Context } from "./context.ts";

export interface Evaluation {
  /** The current version, which the commit checks again. */
  readonly version: string | undefined;
  readonly clause: Clause | undefined;
}

/** Returns the current version and any failed clause; undefined without a condition. */
export async function evaluateWrite(
  context: Context,
  bucket: Bucket,
  key: Key,
  condition: Condition | undefined,
): Promise<Evaluation | undefined> {
  if (condition === undefined) return undefined;
  const current = await context.records.object(bucket.name, key);
  if (current !== undefined) {
    return { version: current.version, clause: findFailedClause(condition, current) };
  }
  const isRemoving = condition.removesNothing === true && (await hasHiddenObject(context, bucket, key));
  const clause = isRemoving ? "etagDoesNotMatch" : findFailedClauseWhenMissing(condition);
  return { version: undefined, clause };
}

/** Whether a write would remove a null version that a delete marker hides. */
async function hasHiddenObject({ records }: Context, { name, settings }: Bucket, key: Key): Promise<boolean> {
  if (settings.versioning !== "suspended") return false;
  const stored = await records.version(name, key, nullVersion);
  return stored !== undefined && !isDeleteMarker(stored.version);
}
