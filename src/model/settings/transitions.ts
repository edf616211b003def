// What transitions make of an object. Store has one class to move to; the rule of an S3 client may
// name several, such as STANDARD_IA after 30 days and GLACIER after 90, of which the name is kept.
import type { ObjectRecord } from "../object.ts";
import { rulesForKey } from "../prefix-rules.ts";
import {
  findTransition,
  isNoncurrentDue,
  type LifecycleRule,
  type NoncurrentVersion,
  timeOf,
  type WithClassName,
} from "./lifecycle.ts";

/** Returns the current object as the rules change it now. Undefined: they do not. */
export function transitioned(
  rules: readonly LifecycleRule[],
  object: ObjectRecord,
  now: number,
): ObjectRecord | undefined {
  const found = findTransition(rules, object);
  if (found === undefined || found.time > now) return undefined;
  return moved(object, found.rule.namedTransitions, (when) => timeOf(when, object) <= now);
}

/** Returns the noncurrent version as the rules change it now. Undefined: they do not. */
export function transitionedNoncurrent(
  rules: readonly LifecycleRule[],
  object: ObjectRecord,
  version: NoncurrentVersion,
  now: number,
): ObjectRecord | undefined {
  const rule = rulesForKey(rules, version.key).find((one) =>
    isNoncurrentDue(one, one.transitionNoncurrent, version, now),
  );
  return rule && moved(object, rule.namedNoncurrent, (when) => isNoncurrentDue(rule, when, version, now));
}

function moved<W>(
  object: ObjectRecord,
  named: readonly WithClassName<W>[] | undefined,
  isDue: (when: W) => boolean,
): ObjectRecord | undefined {
  const names = named?.map(({ className }) => className) ?? [undefined];
  const due = named?.findLastIndex(isDue) ?? 0;
  const current = names.indexOf(object.passthrough?.get("class"));
  // A name that the rule does not have is the writer's own choice, which stays.
  const isMoved = object.storageClass === "InfrequentAccess" && (current === -1 || current >= due);
  return isMoved ? undefined : withClass(object, names[due]);
}

function withClass({ passthrough, ...object }: ObjectRecord, className: string | undefined): ObjectRecord {
  const others = new Map(passthrough);
  if (className === undefined) others.delete("class");
  else others.set("class", className);
  const plain = { ...object, storageClass: "InfrequentAccess" } as const;
  return others.size === 0 ? plain : { ...plain, passthrough: others };
}
