// Turns a drawn command on versions into an operation with existing versions, times and positions.

import type { VersionPosition } from "../../../../src/model/listing.ts";
import type { LockRule, ObjectLock, Retention } from "../../../../src/model/lock.ts";
import type { LifecycleRule } from "../../../../src/model/settings/lifecycle.ts";
import { isDeleteMarker } from "../../../../src/model/version.ts";
import { customerKeys, type Operation } from "../operation.ts";
import { givenKey, keyOf, rangeOptions } from "../resolve.ts";
import type { World } from "../world.ts";
import type { NamedVersion, TagPairs } from "./operation.ts";
import type {
  WantedLock,
  WantedLockRule,
  WantedRetention,
  WantedTime,
  WantedVersion,
  WantedVersionCommand,
} from "./wanted.ts";

export async function resolveVersions(world: World, wanted: WantedVersionCommand): Promise<Operation> {
  switch (wanted.do) {
    case "set versioning":
      return wanted;
    case "set object lock": {
      const { mode, days } = wanted;
      return { do: "set object lock", objectLock: days === null ? {} : { defaultRetention: { mode, days } } };
    }
    case "set lock rules":
      return {
        do: "set lock rules",
        rules: wanted.rules?.map((rule, i) => lockRule(world, rule, i)) ?? null,
      };
    case "set version lifecycle":
      return { do: "set version lifecycle", rules: lifecycles[wanted.rule]! };
    case "read version":
      return readVersion(world, wanted);
    case "list at":
      return listAt(world, wanted);
    case "list versions": {
      const { prefix, delimiter, limit } = wanted;
      const after = await positionOf(world, wanted);
      return { do: "list versions", prefix, delimiter, ...(after && { after }), ...limited(limit) };
    }
    case "put version": {
      const { key, body, tags, seal } = wanted;
      const lock = lockOf(world, wanted.lock);
      return { do: "put version", key, body, tags: tagSets[tags]!, lock, ...sealed(seal) };
    }
    case "create locked upload": {
      const { key, tags, seal } = wanted;
      const extras = { tags: tagSets[tags]!, lock: lockOf(world, wanted.lock) };
      return { do: "create upload", key, options: sealed(seal), extras };
    }
    case "delete versions": {
      const targets = [];
      for (const one of wanted.which) {
        const { key, version = "null" } = await named(world, one);
        targets.push({ key, version });
      }
      return { do: "delete versions", targets, bypassGovernance: wanted.bypass };
    }
    case "set tags":
      return { do: "set tags", ...(await named(world, wanted.which)), tags: tagSets[wanted.tags]! };
    case "set retention": {
      const retention = wanted.retention === null ? null : retentionOf(world, wanted.retention);
      const target = await named(world, wanted.which);
      return { do: "set retention", ...target, retention, bypassGovernance: wanted.bypass };
    }
    case "set legal hold":
      return { do: "set legal hold", ...(await named(world, wanted.which)), isHeld: wanted.isHeld };
    case "restore": {
      const { prefix, isDryRun, isFurther } = wanted;
      const time = await timeOf(world, wanted.time);
      return { do: "restore", time, prefix, isDryRun, ...further(world, isFurther) };
    }
  }
}

/** From none to more tags than the limit. */
const tagSets: readonly TagPairs[] = [
  [],
  [["colour", "blue"]],
  [["colour", "red"]],
  [
    ["colour", "blue"],
    ["größe", ""],
  ],
  Array.from({ length: 11 }, (_, i) => [`tag ${i}`, "x"] as const),
];

const base = { id: "r", isEnabled: true, prefix: "" };
const lifecycles: readonly (readonly LifecycleRule[])[] = [
  [],
  [{ ...base, expireNoncurrent: { days: 1 } }],
  [{ ...base, prefix: "a", expireNoncurrent: { days: 2, keep: 1 }, expireMarkers: true }],
  [{ ...base, transitionNoncurrent: { days: 1, keep: 1 }, tags: [["colour", "blue"]] }],
  [{ ...base, expire: { days: 1 }, expireNoncurrent: { days: 1, keep: 2 } }],
  [
    { ...base, expire: { days: 2 }, tags: [["colour", "red"]] },
    { ...base, id: "s", prefix: "dir", expireMarkers: true },
  ],
];

function lockRule({ now }: World, { isEnabled, prefix, kind, length }: WantedLockRule, i: number): LockRule {
  const condition =
    kind === "age"
      ? { kind, seconds: length / 1000 }
      : kind === "date"
        ? { kind, date: now + length }
        : { kind };
  return { id: `rule ${i}`, isEnabled, prefix, condition };
}

function retentionOf({ now }: World, { mode, length }: WantedRetention): Retention {
  return { mode, until: now + length };
}

function lockOf(world: World, wanted: WantedLock | null): ObjectLock | null {
  if (wanted === null || (wanted.retention === null && !wanted.isHeld)) return null;
  return {
    ...(wanted.retention && { retention: retentionOf(world, wanted.retention) }),
    ...(wanted.isHeld && { legalHold: true }),
  };
}

const missing = "f".repeat(32);

/** Returns the chosen version. If no version of the key is a marker, one that does not exist. */
async function named(world: World, { key, pick, back }: WantedVersion): Promise<NamedVersion> {
  const versions = await world.versions(key);
  const existing = versions[0]?.version.key ?? key;
  if (pick === "none") return { key: existing };
  if (pick === "null") return { key: existing, version: "null" };
  const choice =
    pick === "missing" ? [] : versions.filter(({ version }) => pick === "nth" || isDeleteMarker(version));
  const version = choice[back % Math.max(1, choice.length)]?.version.version ?? missing;
  return { key: existing, version };
}

async function timeOf(world: World, { key, back, off }: WantedTime): Promise<number> {
  const versions = await world.versions(key);
  const uploaded = versions[back % Math.max(1, versions.length)]?.version.uploaded ?? world.now;
  return uploaded + off;
}

type Wanted<Name extends WantedVersionCommand["do"]> = Extract<WantedVersionCommand, { do: Name }>;

async function readVersion(world: World, wanted: Wanted<"read version">): Promise<Operation> {
  const { by, secret, range } = wanted;
  const { key, version } = await named(world, wanted.which);
  const time = wanted.time === null ? undefined : await timeOf(world, wanted.time);
  const found = await world.read(key, time === undefined ? { version } : { time });
  const ssecKey = givenKey(secret, keyOf(found));
  const asked = range === null ? undefined : rangeOptions({ ...range, form: "object" }).range;
  return {
    do: "read version",
    key,
    by,
    ...(time === undefined ? version !== undefined && { version } : { time }),
    ...(asked && { range: asked }),
    ...(ssecKey && { ssecKey }),
  };
}

async function listAt(world: World, wanted: Wanted<"list at">): Promise<Operation> {
  const { prefix, delimiter, limit, isFurther } = wanted;
  const time = await timeOf(world, wanted.time);
  return { do: "list at", time, prefix, delimiter, ...limited(limit), ...further(world, isFurther) };
}

async function positionOf(
  world: World,
  { after, which }: Wanted<"list versions">,
): Promise<VersionPosition | undefined> {
  if (after === "start") return undefined;
  if (after === "cursor") return world.versionCursor;
  const { key, version } = await named(world, which);
  return { kind: "key", value: key, ...(after === "version" && version !== undefined && { version }) };
}

function limited(limit: number | null) {
  return limit === null ? {} : { limit };
}

function further({ cursor }: World, isFurther: boolean) {
  return isFurther && cursor !== undefined ? { cursor } : {};
}

function sealed(seal: number | null) {
  return seal === null ? {} : { ssecKey: customerKeys[seal]! };
}
