// Queries of a bucket's outbox: the events that are not delivered yet.
import type { EventCount, OutboxEvent } from "../../../engine/records.ts";
import { verifyText } from "../../rows/checksum.ts";
import { type Database, prepareArrays } from "../sqlite.ts";

export interface OutboxQueries {
  outboxEvents(rule: string, limit: number): OutboxEvent[];
  eventCounts(): EventCount[];
  /** Finds damage in the next `limit` entries after `after`. `last` is undefined at the end. */
  damagedEvents(
    after: number,
    limit: number,
  ): { readonly damaged: number[]; readonly last: number | undefined };
}

type EventRow = readonly [entry: number, event: unknown, rule: string];

const columns = "SELECT entry, event, rule FROM outbox";

export function createOutboxQueries(database: Database): OutboxQueries {
  // Statements are prepared on first use: most buckets have no notification rules.
  return {
    outboxEvents(rule, limit) {
      const find = prepareArrays<EventRow>(database, `${columns} WHERE rule = ? ORDER BY entry LIMIT ?`);
      return find.all(rule, limit).map((row) => ({ entry: row[0], text: eventText(row) }));
    },
    eventCounts() {
      const sql = "SELECT rule, count(*) FROM outbox GROUP BY rule ORDER BY rule";
      const rows = prepareArrays<[rule: string, count: number]>(database, sql).all();
      return rows.map(([rule, count]) => ({ rule, count }));
    },
    damagedEvents(after, limit) {
      const sql = `${columns} WHERE entry > ? ORDER BY entry LIMIT ?`;
      const found = prepareArrays<EventRow>(database, sql).all(after, limit);
      const damaged = found.filter((row) => eventText(row) === undefined).map(([entry]) => entry);
      return { damaged, last: found.length < limit ? undefined : found.at(-1)![0] };
    },
  };
}

/** Returns undefined for a damaged event: it must not block the delivery of later events. */
function eventText([, event, rule]: EventRow): string | undefined {
  try {
    return verifyText(event, "an event", rule);
  } catch {
    return undefined;
  }
}
