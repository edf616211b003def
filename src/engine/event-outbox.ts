// Events for notification rules. A commit appends matching events to an outbox in the same
// transaction; delivery reads and acknowledges them.
import type { Bucket } from "../model/bucket.ts";
import type { Key } from "../model/key.ts";
import type { ObjectRecord } from "../model/object.ts";
import { type EventName, type ObjectEvent, rulesFor } from "../model/settings/notification.ts";
import type { DeleteMarker, Version } from "../model/version.ts";
import { expectCount, expectText, expectTime } from "./codec/validate.ts";
import { type Context, newId } from "./context.ts";
import type { EventCount, EventLimits, EventUsage, OutboxEvent } from "./outbox.ts";
import type { Mutation } from "./records.ts";

export interface Events {
  /** Returns the undelivered events of a rule, oldest first, within the limits. */
  waitingEvents(bucket: string, rule: string, limits: EventLimits): Promise<readonly WaitingEvent[]>;
  /** Ends the rule's wait for delivered events. */
  ackEvents(bucket: string, rule: string, entries: readonly number[]): Promise<void>;
  /** Returns the number of undelivered events for each rule that has any. */
  countEvents(bucket: string): Promise<readonly EventCount[]>;
  /** Returns the number and the bytes of all undelivered events of the bucket. */
  eventUsage(bucket: string): Promise<EventUsage>;
  /** Removes the oldest events, whichever rules wait for them. Returns how many were removed. */
  dropOldestEvents(bucket: string, count: number): Promise<number>;
}

export interface WaitingEvent {
  /** Entry numbers increase: of two events of one key, the later event has the greater number. */
  readonly entry: number;
  /** The event, or undefined if it is damaged. */
  readonly event: ObjectEvent | undefined;
}

/** Returns the event of a put, to be appended after the put in the same commit. */
export function createdEventMutations(
  context: Context,
  bucket: Bucket,
  name: EventName,
  record: ObjectRecord,
): readonly Mutation[] {
  const { key, size, etag, version } = record;
  return eventMutations(context, bucket, { name, key, created: { size, etag, version } });
}

/** Returns first the event, which is appended only if the object exists, then the delete. */
export function deleteMutations(
  context: Context,
  bucket: Bucket,
  name: EventName,
  key: Key,
): readonly Mutation[] {
  return [...eventMutations(context, bucket, { name, key }), { kind: "delete object", key }];
}

/** Returns the delete marker, then its event. */
export function markerMutations(
  context: Context,
  bucket: Bucket,
  name: EventName,
  marker: DeleteMarker,
): readonly Mutation[] {
  const { key, version } = marker;
  return [
    { kind: "put marker", marker },
    ...eventMutations(context, bucket, { name, key, removed: version }),
  ];
}

/** Returns the removal of a version, then its event. */
export function deleteVersionMutations(
  context: Context,
  bucket: Bucket,
  name: EventName,
  { key, version }: Version,
): readonly Mutation[] {
  return [
    { kind: "delete version", key, version },
    ...eventMutations(context, bucket, { name, key, removed: version }),
  ];
}

function eventMutations(
  context: Context,
  bucket: Bucket,
  details: Omit<ObjectEvent, "id" | "time">,
): readonly Mutation[] {
  const { notifications } = bucket.settings;
  if (notifications === undefined) return noMutations;
  const rules = rulesFor(notifications, details.name, details.key);
  if (rules.length === 0) return noMutations;
  const event = encodeEvent({ id: newId(context), time: context.now(), ...details });
  const isUnversionedDelete = details.created === undefined && details.removed === undefined;
  const condition = isUnversionedDelete ? { ifExists: details.key } : {};
  return [{ kind: "append event", rules: rules.map(({ id }) => id), event, ...condition }];
}

const noMutations: readonly Mutation[] = [];

export function createEvents({ records }: Context): Events {
  return {
    async waitingEvents(bucket, rule, limits) {
      return (await records.outboxEvents(bucket, rule, limits)).map(toWaitingEvent);
    },
    ackEvents: records.ackEvents,
    countEvents: records.eventCounts,
    eventUsage: records.eventUsage,
    dropOldestEvents: records.dropOldestEvents,
  };
}

function toWaitingEvent({ entry, text }: OutboxEvent): WaitingEvent {
  return { entry, event: text === undefined ? undefined : decodeEvent(text) };
}

type EncodedEvent = readonly [
  format: number,
  id: string,
  name: EventName,
  time: number,
  key: string,
  /** 0 for the removal of a version. */
  created?: readonly [size: number, etag: string, version: string] | 0,
  removed?: string,
];

const format = 1;

function encodeEvent({ id, name, time, key, created, removed }: ObjectEvent): string {
  const encoded: EncodedEvent = [format, id, name, time, key];
  if (removed !== undefined) return JSON.stringify([...encoded, 0, removed]);
  if (created === undefined) return JSON.stringify(encoded);
  return JSON.stringify([...encoded, [created.size, created.etag, created.version]]);
}

/** Returns undefined if the event is unreadable, so that it does not block later events. */
function decodeEvent(text: string): ObjectEvent | undefined {
  try {
    const [storedFormat, id, name, time, key, created, removed] = JSON.parse(text) as EncodedEvent;
    if (storedFormat !== format) return undefined;
    for (const field of [id, name, key]) expectText(field);
    expectTime(time);
    if (removed !== undefined) expectText(removed);
    if (removed !== undefined) return { id, name, time, key, removed };
    if (created === undefined || created === 0) return { id, name, time, key };
    const [size, etag, version] = created;
    expectCount(size);
    for (const field of [etag, version]) expectText(field);
    return { id, name, time, key, created: { size, etag, version } };
  } catch {
    return undefined;
  }
}
