// Random commands on versions, locks and tags before they are resolved. They name versions and times
// by their relation to the current state.
import fc from "fast-check";
import type { RetentionMode } from "../../../../src/model/lock.ts";
import {
  anyKey,
  body,
  often,
  range,
  type Secret,
  secret,
  type WantedBody,
  type WantedRange,
} from "../wanted.ts";

export interface WantedVersion {
  readonly key: string;
  /** "nth": counted back from the newest. "none": a request that names no version. */
  readonly pick: "nth" | "marker" | "null" | "missing" | "none";
  readonly back: number;
}

/** A time close to the one at which a version was written. */
export interface WantedTime {
  readonly key: string;
  readonly back: number;
  /** Offset in milliseconds. */
  readonly off: number;
}

export interface WantedRetention {
  readonly mode: RetentionMode;
  /** Milliseconds from now until the end. */
  readonly length: number;
}

export interface WantedLock {
  readonly retention: WantedRetention | null;
  readonly isHeld: boolean;
}

export interface WantedLockRule {
  readonly isEnabled: boolean;
  readonly prefix: string;
  readonly kind: "age" | "date" | "indefinite";
  readonly length: number;
}

interface WantedVersionPage {
  readonly prefix: string;
  readonly delimiter: string;
  readonly limit: number | null;
}

export type WantedVersionCommand =
  | { readonly do: "set versioning"; readonly versioning: "on" | "suspended" }
  | { readonly do: "set object lock"; readonly mode: RetentionMode; readonly days: number | null }
  | { readonly do: "set lock rules"; readonly rules: readonly WantedLockRule[] | null }
  | { readonly do: "set version lifecycle"; readonly rule: number }
  | {
      readonly do: "read version";
      readonly which: WantedVersion;
      readonly time: WantedTime | null;
      readonly secret: Secret;
      readonly range: WantedRange | null;
      readonly by: "get" | "head" | "describe";
    }
  | ({ readonly do: "list at"; readonly time: WantedTime; readonly isFurther: boolean } & WantedVersionPage)
  | ({
      readonly do: "list versions";
      readonly after: "start" | "cursor" | "key" | "version";
      readonly which: WantedVersion;
    } & WantedVersionPage)
  | {
      readonly do: "put version";
      readonly key: string;
      readonly body: WantedBody;
      readonly tags: number;
      readonly lock: WantedLock | null;
      readonly seal: number | null;
    }
  | {
      readonly do: "create locked upload";
      readonly key: string;
      readonly tags: number;
      readonly lock: WantedLock | null;
      readonly seal: number | null;
    }
  | { readonly do: "delete versions"; readonly which: readonly WantedVersion[]; readonly bypass: boolean }
  | { readonly do: "set tags"; readonly which: WantedVersion; readonly tags: number }
  | {
      readonly do: "set retention";
      readonly which: WantedVersion;
      readonly retention: WantedRetention | null;
      readonly bypass: boolean;
    }
  | { readonly do: "set legal hold"; readonly which: WantedVersion; readonly isHeld: boolean }
  | {
      readonly do: "restore";
      readonly time: WantedTime;
      readonly prefix: string;
      readonly isDryRun: boolean;
      readonly isFurther: boolean;
    };

const commands: Readonly<Record<WantedVersionCommand["do"], true>> = {
  "set versioning": true,
  "set object lock": true,
  "set lock rules": true,
  "set version lifecycle": true,
  "read version": true,
  "list at": true,
  "list versions": true,
  "put version": true,
  "create locked upload": true,
  "delete versions": true,
  "set tags": true,
  "set retention": true,
  "set legal hold": true,
  restore: true,
};

export function isOnVersions(wanted: { readonly do: string }): wanted is WantedVersionCommand {
  return wanted.do in commands;
}

const hour = 3600 * 1000;
const day = 24 * hour;

const which: fc.Arbitrary<WantedVersion> = fc.record({
  key: anyKey,
  pick: often<WantedVersion["pick"]>("nth", fc.constantFrom("marker", "null", "missing", "none"), 2),
  back: fc.oneof(fc.nat(2), fc.nat(12)),
});
const time: fc.Arbitrary<WantedTime> = fc.record({
  key: anyKey,
  back: fc.nat(12),
  off: fc.constantFrom(-1, 0, 0, 1, 1000, -day),
});
const prefix = fc.constantFrom("", "", "a", "a/", "dir", "nothing");
const mode = fc.constantFrom<RetentionMode[]>("governance", "compliance");
/** Few versions are locked for days, so that most of them can still be removed. */
const retention: fc.Arbitrary<WantedRetention> = fc.record({
  mode,
  length: fc.constantFrom(20, 200, 3000, hour, day, 3 * day, 0, -1),
});
const lock = often<WantedLock | null>(
  null,
  fc.record({
    retention: often<WantedRetention | null>(null, retention, 1),
    isHeld: often(false, fc.boolean()),
  }),
);
const pageOptions = {
  prefix,
  delimiter: fc.constantFrom("", "", "/", "b"),
  limit: often<number | null>(null, fc.constantFrom(0, 1, 2, 3, 7, 1000), 1),
};
const plainBody = body.map((wanted) => ({ ...wanted, as: "bytes" as const }));
const seal = often<number | null>(null, fc.nat(1), 6);

export const wantedVersionRead: fc.Arbitrary<WantedVersionCommand> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("read version" as const),
      which,
      time: often<WantedTime | null>(null, time, 2),
      secret,
      range,
      by: fc.constantFrom<("get" | "head" | "describe")[]>("get", "get", "head", "describe"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("list at" as const),
      time,
      isFurther: fc.boolean(),
      ...pageOptions,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("list versions" as const),
      after: fc.constantFrom<("start" | "cursor" | "key" | "version")[]>("start", "cursor", "key", "version"),
      which,
      ...pageOptions,
    }),
  },
);

export const wantedVersionDelete: fc.Arbitrary<WantedVersionCommand> = fc.record({
  do: fc.constant("delete versions" as const),
  which: fc.array(which, { minLength: 1, maxLength: 3 }),
  bypass: fc.boolean(),
});

const restore: fc.Arbitrary<WantedVersionCommand> = fc.record({
  do: fc.constant("restore" as const),
  time,
  prefix,
  isDryRun: often(false, fc.constant(true), 3),
  isFurther: often(false, fc.constant(true), 6),
});

/** Writes that are applied in one commit or not at all. */
export const wantedVersionWrite: fc.Arbitrary<WantedVersionCommand> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("put version" as const),
      key: anyKey,
      body: plainBody,
      tags: fc.nat(4),
      lock,
      seal,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("create locked upload" as const),
      key: anyKey,
      tags: fc.nat(3),
      lock,
      seal,
    }),
  },
  { weight: 6, arbitrary: wantedVersionDelete },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("set tags" as const), which, tags: fc.nat(4) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("set retention" as const),
      which,
      retention: often<WantedRetention | null>(null, retention, 1),
      bypass: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("set legal hold" as const),
      which,
      isHeld: often(false, fc.constant(true), 2),
    }),
  },
  { weight: 2, arbitrary: restore },
);

const lockRule: fc.Arbitrary<WantedLockRule> = fc.record({
  isEnabled: often(true, fc.constant(false)),
  prefix: fc.constantFrom("", "a", "a/b", "dir"),
  kind: fc.constantFrom<WantedLockRule["kind"][]>("age", "date", "indefinite"),
  length: fc.constantFrom(1000, hour, day),
});

/** Versioning is turned on early and often; Object Lock, which cannot be removed, seldom. */
export const wantedVersionSetting: fc.Arbitrary<WantedVersionCommand> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ do: "set versioning", versioning: "on" } as const) },
  { weight: 4, arbitrary: fc.constant({ do: "set versioning", versioning: "suspended" } as const) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("set object lock" as const),
      mode,
      days: often<number | null>(null, fc.constantFrom(1, 2), 2),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("set lock rules" as const),
      rules: often<readonly WantedLockRule[] | null>(
        null,
        fc.array(lockRule, { minLength: 1, maxLength: 2 }),
        1,
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("set version lifecycle" as const), rule: fc.nat(5) }),
  },
);
