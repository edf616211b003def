// Events: what a commit tells of, for the rules that want to know it, written down in the same commit; and what is
// left of that to deliver.
import type { Bucket } from "../model/bucket.ts";
import type { Key } from "../model/key.ts";
import { type EventName, type ObjectEvent, rulesFor } from "../model/notification.ts";
import type { ObjectRecord } from "../model/object.ts";
import { expectCount, expectText, expectTime } from "./codec/validate.ts";
import { type Context, newId } from "./context.ts";
import type { Mutation, ToldCount, ToldEvent } from "./records.ts";

export interface Events {
  /** What a rule of the bucket has to deliver, oldest first. */
  waitingEvents(bucket: string, rule: string, limit: number): Promise<readonly WaitingEvent[]>;
  /** Strikes out what was delivered. */
  strikeEvents(bucket: string, entries: readonly number[]): Promise<void>;
  /** How many there are for each rule that has any. */
  countEvents(bucket: string): Promise<readonly ToldCount[]>;
}

export interface WaitingEvent {
  /** Grows: of two events of one key, the later has the greater. */
  readonly entry: number;
  /** Undefined when it is damaged: what it was about cannot be told. */
  readonly event: ObjectEvent | undefined;
}

/** Behind the put in its commit, so that events of a key come in the order of its versions. */
export function tellCreated(
  context: Context,
  bucket: Bucket,
  name: EventName,
  record: ObjectRecord,
): Mutation[] {
  const { key, size, etag, version } = record;
  return tell(context, bucket, { name, key, created: { size, etag, version } });
}

/** The delete, with what is told of it: before it in the commit, and only when there is something to delete. */
export function removing(context: Context, bucket: Bucket, name: EventName, key: Key): Mutation[] {
  return [...tell(context, bucket, { name, key }), { kind: "delete object", key }];
}

function tell(context: Context, bucket: Bucket, what: Omit<ObjectEvent, "id" | "time">): Mutation[] {
  const { notifications } = bucket.settings;
  if (notifications === undefined) return none;
  const rules = rulesFor(notifications, what.name, what.key);
  if (rules.length === 0) return none;
  const event = encodeEvent({ id: newId(context), time: context.now(), ...what });
  const condition = what.created === undefined ? { ifThere: what.key } : {};
  return rules.map(({ id }) => ({ kind: "tell", rule: id, event, ...condition }) as const);
}

const none: Mutation[] = [];

export function createEvents({ records }: Context): Events {
  return {
    async waitingEvents(bucket, rule, limit) {
      return (await records.told(bucket, rule, limit)).map(waiting);
    },
    strikeEvents: (bucket, entries) => records.strike(bucket, entries),
    countEvents: (bucket) => records.toldCounts(bucket),
  };
}

function waiting({ entry, text }: ToldEvent): WaitingEvent {
  return { entry, event: text === undefined ? undefined : decodeEvent(text) };
}

type Encoded = readonly [
  format: number,
  id: string,
  name: EventName,
  time: number,
  key: string,
  created?: readonly [size: number, etag: string, version: string],
];

const format = 1;

function encodeEvent({ id, name, time, key, created }: ObjectEvent): string {
  const encoded: Encoded = [format, id, name, time, key];
  if (created === undefined) return JSON.stringify(encoded);
  return JSON.stringify([...encoded, [created.size, created.etag, created.version]]);
}

/** One that cannot be read must not keep those behind it from their receiver. */
function decodeEvent(text: string): ObjectEvent | undefined {
  try {
    const [given, id, name, time, key, created] = JSON.parse(text) as Encoded;
    if (given !== format) return undefined;
    for (const field of [id, name, key]) expectText(field);
    expectTime(time);
    if (created === undefined) return { id, name, time, key };
    const [size, etag, version] = created;
    expectCount(size);
    for (const field of [etag, version]) expectText(field);
    return { id, name, time, key, created: { size, etag, version } };
  } catch {
    return undefined;
  }
}
