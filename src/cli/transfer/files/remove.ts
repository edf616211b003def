// Deletes many objects or versions, in batches. What is locked is reported, and the rest is deleted.
import { forEachLimit } from "../../../async/for-each-limit.ts";
import type { VersionListing, VersionTarget } from "../../../engine/versions/versions.ts";
import { errorMessage } from "../../../model/errors.ts";
import type { Key } from "../../../model/key.ts";
import { limits } from "../../../model/limits.ts";
import { versionId } from "../../../model/version.ts";
import { toCommandError } from "../../framework/failures.ts";
import type { NameFilter } from "../../store/glob.ts";
import type { ObjectSide } from "../../store/stores.ts";
import { isFatal } from "../sync/sync.ts";
import type { SourceItem } from "./sources.ts";

export interface RemoveEvent {
  readonly key: Key;
  readonly version?: string | undefined;
  /** Why it was not deleted. */
  readonly error?: string | undefined;
}

export interface RemoveRequest {
  readonly side: ObjectSide;
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
  onEvent(event: RemoveEvent): Promise<void>;
}

const concurrency = 8;

export async function deleteObjects(request: RemoveRequest, items: AsyncIterable<SourceItem>): Promise<void> {
  let batch: Key[] = [];
  for await (const item of items) {
    if (item.kind !== "object") continue;
    request.signal.throwIfAborted();
    batch.push(item.record.key);
    if (batch.length < limits.deleteKeys) continue;
    await deleteBatch(request, batch);
    batch = [];
  }
  await deleteBatch(request, batch);
}

async function deleteBatch(request: RemoveRequest, keys: readonly Key[]): Promise<void> {
  const { side, isDryRun, onEvent } = request;
  if (keys.length === 0) return;
  try {
    if (!isDryRun) await side.store.engine.delete(side.bucket, keys);
  } catch (error) {
    if (isFatal(error)) throw error;
    return deleteOneByOne(request, keys);
  }
  for (const key of keys) await onEvent({ key });
}

/** One locked object refuses a whole batch, so each is tried alone. */
async function deleteOneByOne({ side, signal, onEvent }: RemoveRequest, keys: readonly Key[]): Promise<void> {
  await forEachLimit(keys, { concurrency, signal }, async (key) => {
    try {
      await side.store.engine.delete(side.bucket, [key]);
      await onEvent({ key });
    } catch (error) {
      if (isFatal(error)) throw error;
      await onEvent({ key, error: errorMessage(toCommandError(error, { bucket: side.bucket, key })) });
    }
  });
}

export interface RemoveVersionsRequest extends RemoveRequest {
  readonly filter: NameFilter;
  readonly bypassGovernance: boolean;
}

export async function deleteVersions(request: RemoveVersionsRequest): Promise<void> {
  const { side, filter, signal } = request;
  const { bucket, key } = side;
  const prefix = key === "" || key.endsWith("/") ? key : `${key}/`;
  let after: VersionListing["next"];
  do {
    signal.throwIfAborted();
    const page = await side.store.engine.listVersions(bucket, { prefix, after, limit: limits.deleteKeys });
    const targets = page.versions
      .map(({ version }) => ({ key: version.key, version: versionId(version) }))
      .filter((target) => filter(target.key.slice(prefix.length)));
    await deletePage(request, targets);
    after = page.next;
  } while (after !== undefined);
}

async function deletePage(
  { side, isDryRun, bypassGovernance, onEvent }: RemoveVersionsRequest,
  targets: readonly VersionTarget[],
): Promise<void> {
  if (targets.length === 0) return;
  const { engine } = side.store;
  const deletions = isDryRun ? [] : await engine.deleteVersions(side.bucket, targets, { bypassGovernance });
  for (const [i, target] of targets.entries()) {
    const deletion = deletions[i];
    await onEvent({ ...target, error: deletion?.outcome === "locked" ? deletion.message : undefined });
  }
}
