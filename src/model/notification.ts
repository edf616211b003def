// Who is told of what happens to a bucket's objects: rules, and the events they are held against. The names are S3's,
// so that whatever was written for its events understands these.
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
  /** The same whenever it is delivered: by it, what comes twice is known. */
  readonly id: string;
  readonly name: EventName;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly key: Key;
  /** Of what was created; nothing is told of what has gone. */
  readonly created?: { readonly size: number; readonly etag: string; readonly version: string };
}

export interface NotificationRule {
  readonly id: string;
  /** Names of events, or such with `*` in the place of their last word. */
  readonly events: readonly string[];
  readonly prefix: string;
  readonly suffix: string;
  readonly target: NotificationTarget;
  /** How long an event is kept that cannot be delivered, in milliseconds; undefined for ever. */
  readonly keep?: number | undefined;
}

export type NotificationTarget =
  /** The secret, of which signatures are made, is sealed. */
  | { readonly kind: "webhook"; readonly url: string; readonly secret: string }
  | { readonly kind: "script"; readonly name: string };

/** Every name a rule may give: the events, and each of their kinds as a whole. */
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
