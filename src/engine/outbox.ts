// The part of the records port for events: an outbox for each bucket. An event that several rules
// wait for is stored once, with the list of these rules.
import type { Key } from "../model/key.ts";

export interface Outbox {
  /** Returns events that the rule still waits for, oldest first, within the limits. */
  outboxEvents(bucket: string, rule: string, limits: EventLimits): Promise<readonly OutboxEvent[]>;
  /** Ends the rule's wait for these events. Removes events, and damaged ones, that no rule waits for. */
  ackEvents(bucket: string, rule: string, entries: readonly number[]): Promise<void>;
  /** Returns the number of undelivered events for each rule that has any. */
  eventCounts(bucket: string): Promise<readonly EventCount[]>;
  /** Returns the number and the bytes of all undelivered events. */
  eventUsage(bucket: string): Promise<EventUsage>;
  /** Removes the oldest events, whichever rules wait for them. Returns how many were removed. */
  dropOldestEvents(bucket: string, count: number): Promise<number>;
}

/**
 * Limits of one read, so that no backlog is read at once. The event that reaches `bytes` is the last.
 *
 * @example { events: 100, bytes: 65_536 }
 */
export interface EventLimits {
  readonly events: number;
  readonly bytes: number;
}

/** Entry numbers increase. Events of one key are in the order of their commits. */
export interface OutboxEvent {
  readonly entry: number;
  /** The event as text, or undefined if it is damaged. */
  readonly text: string | undefined;
}

export interface EventUsage {
  readonly events: number;
  readonly bytes: number;
}

export interface EventCount {
  readonly rule: string;
  readonly count: number;
}

/** Appends an event for rules. With `ifExists`, only if that object exists. */
export interface AppendEvent {
  readonly kind: "append event";
  readonly rules: readonly string[];
  readonly event: string;
  readonly ifExists?: Key;
}

/**
 * Databases find the events of a rule by the lists of rules that occur. Beyond this number of lists
 * they read only the oldest events of the bucket, so that rules made for it cannot slow down reads.
 */
export const maxRuleLists = 500;
export const oldestEvents = 1000;
