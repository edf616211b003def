// Notification rules and events of a bucket's objects. Events have S3's names, so that receivers
// written for S3 understand them.
import type { Key } from "../key.ts";
import { rulesForKey } from "../prefix-rules.ts";

export const eventNames = [
  "s3:ObjectCreated:Put",
  "s3:ObjectCreated:Post",
  "s3:ObjectCreated:Copy",
  "s3:ObjectCreated:CompleteMultipartUpload",
  "s3:ObjectRemoved:Delete",
  "s3:ObjectRemoved:DeleteMarkerCreated",
  "s3:LifecycleExpiration:Delete",
  "s3:LifecycleExpiration:DeleteMarkerCreated",
] as const;

export type EventName = (typeof eventNames)[number];

export interface ObjectEvent {
  /** Every delivery of one event has the same id, so that receivers can detect duplicates. */
  readonly id: string;
  readonly name: EventName;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly key: Key;
  /** Present only for events of created objects. */
  readonly created?: { readonly size: number; readonly etag: string; readonly version: string };
  /** Id of the removed version or of the new delete marker, in a versioned bucket. */
  readonly removed?: string;
}

export interface NotificationRule {
  readonly id: string;
  /** Event names. `*` can replace the last word. */
  readonly events: readonly string[];
  readonly prefix: string;
  readonly suffix: string;
  readonly target: NotificationTarget;
  /** Time for which an undeliverable event is kept, in milliseconds. Undefined: forever. */
  readonly keep?: number | undefined;
}

export type NotificationTarget =
  /** `secret` signs the requests. It is stored sealed. */
  | { readonly kind: "webhook"; readonly url: string; readonly secret: string }
  | { readonly kind: "script"; readonly name: string };

/** Every name that a rule can use: all events, and the wildcard of each kind. */
export const eventPatterns: readonly string[] = [
  ...new Set(eventNames.map((name) => name.replace(/\w+$/, "*"))),
  ...eventNames,
];

export function rulesFor(
  rules: readonly NotificationRule[],
  name: EventName,
  key: Key,
): readonly NotificationRule[] {
  return rulesForKey(rules, key).filter(
    ({ events, suffix }) => events.some((pattern) => matchesPattern(pattern, name)) && key.endsWith(suffix),
  );
}

function matchesPattern(pattern: string, name: EventName): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
