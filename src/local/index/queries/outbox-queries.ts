// Queries of a bucket's outbox: the events that are not delivered yet. The column "rule" has the list
// of the rules that wait for an event.
import { Buffer } from "node:buffer";
import {
  type EventCount,
  type EventLimits,
  type EventUsage,
  maxRuleLists,
  type OutboxEvent,
  oldestEvents,
} from "../../../engine/outbox.ts";
import { countByRule, parseRules } from "../../../model/settings/rule-list.ts";
import { type EventRow, storedEvent } from "../../rows/stored-event.ts";
import { inSnapshot } from "../existence-index.ts";
import { type Database, prepareArrays } from "../sqlite.ts";

export interface OutboxQueries {
  outboxEvents(rule: string, limits: EventLimits): OutboxEvent[];
  eventCounts(): EventCount[];
  eventUsage(): EventUsage;
  oldestEntries(limit: number): number[];
  /** Finds damage in the next `limit` entries after `after`. `last` is undefined at the end. */
  damagedEvents(
    after: number,
    limit: number,
  ): { readonly damaged: number[]; readonly last: number | undefined };
}

/** Reads each distinct list with one lookup in the index, however many events have it. */
const distinctLists = `WITH RECURSIVE lists (rule) AS (
    SELECT min(rule) FROM outbox
    UNION ALL SELECT (SELECT min(rule) FROM outbox WHERE rule > lists.rule) FROM lists WHERE lists.rule IS NOT NULL
  ) SELECT rule FROM lists WHERE rule IS NOT NULL LIMIT ?`;

export function createOutboxQueries(database: Database): OutboxQueries {
  // Statements are prepared on first use: most buckets have no notification rules.
  const findLists = prepareArrays<readonly [list: string]>(database, distinctLists);
  const findOfList = prepareArrays<readonly [entry: number]>(
    database,
    "SELECT entry FROM outbox WHERE rule = ? ORDER BY entry LIMIT ?",
  );
  const findOldest = prepareArrays<readonly [entry: number, rule: string]>(
    database,
    "SELECT entry, rule FROM outbox ORDER BY entry LIMIT ?",
  );
  const findEvent = prepareArrays<readonly [event: unknown, rule: string]>(
    database,
    "SELECT event, rule FROM outbox WHERE entry = ?",
  );

  /** Returns the oldest entries of the rule; of too many lists, those among the oldest events. */
  function oldestEntries(rule: string, limit: number): number[] {
    const lists = findLists.all(maxRuleLists + 1).map(([list]) => list);
    const isOfRule = (list: string) => parseRules(String(list)).includes(rule);
    const found =
      lists.length > maxRuleLists
        ? findOldest.all(oldestEvents).filter(([, list]) => isOfRule(list))
        : lists.filter(isOfRule).flatMap((list) => findOfList.all(list, limit));
    const entries = found.map(([entry]) => entry).sort((a, b) => a - b);
    return entries.slice(0, limit);
  }

  return {
    outboxEvents(rule, { events, bytes }) {
      return inSnapshot(database, () => {
        const found: OutboxEvent[] = [];
        let total = 0;
        for (const entry of oldestEntries(rule, events)) {
          const [event, list] = findEvent.get(entry)!;
          found.push({ entry, text: storedEvent({ event, rule: list }) });
          total += typeof event === "string" ? Buffer.byteLength(event) : 0;
          if (total >= bytes) break;
        }
        return found;
      });
    },
    eventCounts() {
      const sql = "SELECT rule, count(*) FROM outbox GROUP BY rule";
      return countByRule(prepareArrays<[rules: string, events: number]>(database, sql).all());
    },
    eventUsage() {
      const sql = "SELECT count(*), coalesce(sum(octet_length(event) + octet_length(rule)), 0) FROM outbox";
      const [events, bytes] = prepareArrays<[events: number, bytes: number]>(database, sql).get()!;
      return { events, bytes };
    },
    oldestEntries: (limit) => findOldest.all(limit).map(([entry]) => entry),
    damagedEvents(after, limit) {
      const sql = "SELECT entry, event, rule FROM outbox WHERE entry > ? ORDER BY entry LIMIT ?";
      const rows = prepareArrays<readonly [entry: number, ...row: [EventRow["event"], string]]>(
        database,
        sql,
      );
      const found = rows.all(after, limit);
      const damaged = found.flatMap(([entry, event, rule]) =>
        storedEvent({ event, rule }) === undefined ? [entry] : [],
      );
      return { damaged, last: found.length < limit ? undefined : found.at(-1)![0] };
    },
  };
}
