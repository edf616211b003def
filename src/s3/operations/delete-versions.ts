// Deletes versions for good, each under its own condition.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Engine } from "../../engine/engine.ts";
import type { VersionDeletion, VersionTarget } from "../../engine/versions/versions.ts";
import { type Clause, type Condition, findFailedClause } from "../../model/condition.ts";

export interface ConditionalTarget extends VersionTarget {
  readonly condition?: Condition | undefined;
}

interface Refusal {
  readonly outcome: "refused";
  readonly clause: Clause;
}

export type ConditionalDeletion = VersionDeletion | Refusal;

/** Targets whose conditions are evaluated before other requests run. */
const targetsPerTurn = 64;

/** Returns one outcome for each target. Targets without a condition are deleted in one commit. */
export async function deleteVersions(
  engine: Engine,
  bucket: string,
  targets: readonly ConditionalTarget[],
  bypassGovernance: boolean,
): Promise<readonly ConditionalDeletion[]> {
  const checked: (VersionTarget | Refusal)[] = [];
  for (const [i, target] of targets.entries()) {
    if (i > 0 && i % targetsPerTurn === 0) await nextTurn();
    checked.push(target.condition === undefined ? target : await checkTarget(engine, bucket, target));
  }
  const accepted = checked.filter((one) => "version" in one);
  const deletions =
    accepted.length === 0 ? [] : await engine.deleteVersions(bucket, accepted, { bypassGovernance });
  let next = 0;
  return checked.map((one) => ("version" in one ? deletions[next++]! : one));
}

/**
 * What a condition can compare never changes in a version. The null version can be replaced, so the
 * returned target names the version that was checked by its exact id.
 */
async function checkTarget(
  engine: Engine,
  bucket: string,
  { key, version, condition = {} }: ConditionalTarget,
): Promise<VersionTarget | Refusal> {
  const record = await engine.head(bucket, key, { version });
  if (record === undefined) return { key, version };
  const clause = findFailedClause(condition, record);
  return clause === undefined ? { key, version: record.version } : { outcome: "refused", clause };
}
