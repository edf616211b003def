// An independent check of locks: a version that is locked at the time of an operation still exists
// after it. Does not use the engine's rules, which could be wrong on both sides.
import type { Engine } from "../../../../src/engine/engine.ts";
import type { LockRule } from "../../../../src/model/lock.ts";
import type { ObjectRecord } from "../../../../src/model/object.ts";
import { isDeleteMarker } from "../../../../src/model/version.ts";
import { bucketName, isRead, type Task } from "../operation.ts";
import { everyVersion } from "./perform.ts";

export interface Locks {
  /** Called after the task. Throws if a version that was locked at its time is gone. */
  watch(engine: Engine, task: Task): Promise<void>;
  /** Returns locks that watch a copy of the model. */
  copy(): Locks;
}

interface Known {
  readonly versions: ReadonlyMap<string, ObjectRecord>;
  readonly rules: readonly LockRule[];
}

const nothing: Known = { versions: new Map(), rules: [] };

export function createLocks(known: Known = nothing): Locks {
  let last = known;
  return {
    async watch(engine, task) {
      if (isRead(task.operation)) return;
      const now = await look(engine, last === nothing ? "if versioned" : "all");
      for (const [name, version] of last.versions) {
        if (now.versions.has(name) || !isKept(version, last.rules, task)) continue;
        throw new Error(
          `${JSON.stringify(task)} removed a locked version: ${name}, ${JSON.stringify(version.lock)}, ` +
            `rules ${JSON.stringify(last.rules)}`,
        );
      }
      last = now;
    },
    copy: () => createLocks(last),
  };
}

async function look(engine: Engine, which: "all" | "if versioned"): Promise<Known> {
  const { versioning, lockRules = [] } = (await engine.bucket(bucketName))!.settings;
  if (which !== "all" && versioning === undefined && lockRules.length === 0) return nothing;
  const versions = new Map<string, ObjectRecord>();
  for await (const { version } of everyVersion(engine)) {
    if (!isDeleteMarker(version)) versions.set(`${version.key} ${version.version}`, version);
  }
  return { versions, rules: lockRules };
}

/** Whether a lock keeps the version during the task. Only a bypass may override a governance lock. */
function isKept({ key, uploaded, lock }: ObjectRecord, rules: readonly LockRule[], task: Task): boolean {
  const { now, operation } = task;
  if (lock?.legalHold === true) return true;
  if (lock?.retention !== undefined && lock.retention.until > now) {
    const isBypassed = operation.do === "delete versions" && operation.bypassGovernance;
    if (lock.retention.mode === "compliance" || !isBypassed) return true;
  }
  return rules.some(({ isEnabled, prefix, condition }) => {
    if (!isEnabled || !key.startsWith(prefix)) return false;
    if (condition.kind === "indefinite") return true;
    return now < (condition.kind === "date" ? condition.date : uploaded + condition.seconds * 1000);
  });
}
