// Notification rules and events of a bucket's objects. Event names are S3's, so that receivers
// written for S3 events understand them.
import type { Key } from "./key.ts";

export const eventNames = [
  "s3:ObjectCreated:Put",
  "s3:ObjectCreated:Post",
  "s3:ObjectCreated:Copy",
  "s3:ObjectCreated:CompleteMultipartUpload",
  "s3:ObjectRemoved:Delete",
  "s3:LifecycleExpiration:Delete",
] as const;

export type EventName = (typeof eventNames)[number];

export interface ObjectEvent {
  /** The same for every delivery, so that receivers recognise duplicates. */
  readonly id: string;
  readonly name: EventName;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly key: Key;
  /** Only for events of created objects. */
  readonly created?: { readonly size: number; readonly etag: string; readonly version: string };
}

export interface NotificationRule {
  readonly id: string;
  /** Event names; `*` may replace the last word. */
  readonly events: readonly string[];
  readonly prefix: string;
  readonly suffix: string;
  readonly target: NotificationTarget;
  /** How long an undeliverable event is kept, in milliseconds; undefined: forever. */
  readonly keep?: number | undefined;
}

export type NotificationTarget =
  /** The secret that signs requests is sealed. */
  | { readonly kind: "webhook"; readonly url: string; readonly secret: string }
  | { readonly kind: "script"; readonly name: string };

/** Every name that a rule may use: the events, and the wildcard of each kind. */
export const eventPatterns: readonly string[] = [
  ...new Set(eventNames.map((name) => name.replace(/\w+$/, "*"))),
  ...eventNames,
];

export function rulesFor(
  rules: readonly NotificationRule[],
  name: EventName,
  key: Key,
): readonly NotificationRule[] {
  return rules.filter(
    ({ events, prefix, suffix }) =>
      events.some((pattern) => matchesPattern(pattern, name)) &&
      key.startsWith(prefix) &&
      key.endsWith(suffix),
  );
}

function matchesPattern(pattern: string, name: EventName): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
