// The outbox of a bucket in PostgreSQL. The column "rule" has the list of the rules that wait for an
// event. Every query starts at the bucket's name, as those of queries.ts.
import { maxRuleLists, type Outbox, oldestEvents } from "../../engine/outbox.ts";
import { countByRule } from "../../model/settings/rule-list.ts";
import { type Row, type Statement, statements } from "../postgres/connection.ts";
import type { Database } from "../postgres/database.ts";

const waits = "$2 = ANY (string_to_array(rule, ' '))";

const queries = statements({
  /**
   * Reads each distinct list with one lookup in the index, however many events have it. Of too many
   * lists, it reads only the oldest events of the bucket.
   */
  outboxEvents: `WITH RECURSIVE b AS (SELECT id FROM store.buckets WHERE name = $1),
    lists (rule, number) AS (
      SELECT (SELECT o.rule FROM store.outbox o, b WHERE o.bucket = b.id ORDER BY o.rule LIMIT 1), 1
      UNION ALL
      SELECT (SELECT o.rule FROM store.outbox o, b WHERE o.bucket = b.id AND o.rule > lists.rule ORDER BY o.rule LIMIT 1),
        number + 1 FROM lists WHERE lists.rule IS NOT NULL AND number <= ${maxRuleLists}
    ),
    are_few AS (SELECT count(rule) <= ${maxRuleLists} AS yes FROM lists),
    found AS (
      SELECT e.entry FROM are_few, lists, LATERAL (
          SELECT o.entry FROM store.outbox o, b WHERE o.bucket = b.id AND o.rule = lists.rule ORDER BY o.entry LIMIT $3
        ) e WHERE are_few.yes AND ${waits.replace("rule", "lists.rule")}
      UNION ALL
      SELECT e.entry FROM are_few, LATERAL (
          SELECT o.entry, o.rule FROM store.outbox o, b WHERE o.bucket = b.id AND NOT are_few.yes
          ORDER BY o.entry LIMIT ${oldestEvents}
        ) e WHERE ${waits}
      ORDER BY entry LIMIT $3
    ),
    weighed AS (
      SELECT o.entry, o.event, sum(octet_length(o.event)) OVER (ORDER BY o.entry) - octet_length(o.event) AS before
        FROM found JOIN store.outbox o USING (entry)
    )
    SELECT w.entry, w.event FROM b LEFT JOIN weighed w ON w.before < $4 ORDER BY w.entry`,
  eventUsage: `SELECT count(o.entry), coalesce(sum(octet_length(o.event) + octet_length(o.rule)), 0)
    FROM store.buckets b LEFT JOIN store.outbox o ON o.bucket = b.id WHERE b.name = $1 GROUP BY b.id`,
  oldestEntries: `SELECT o.entry FROM store.buckets b LEFT JOIN LATERAL (
        SELECT entry FROM store.outbox WHERE bucket = b.id ORDER BY entry LIMIT $2
      ) o ON true WHERE b.name = $1`,
  bucket: "SELECT id FROM store.buckets WHERE name = $1",
  eventCounts: `SELECT o.rule, o.events FROM store.buckets b LEFT JOIN LATERAL (
        SELECT rule, count(*) AS events FROM store.outbox WHERE bucket = b.id GROUP BY rule
      ) o ON true WHERE b.name = $1`,
});

/** All are safe to repeat or to run late: entry numbers are never reused. */
const acknowledgements = statements({
  /** The usual case: one rule waits. */
  deleteEvents: "DELETE FROM store.outbox WHERE entry = ANY ($1::bigint[]) AND rule = $2 RETURNING entry",
  /** May leave an empty list, because two rules may acknowledge at once. */
  removeRule: `UPDATE store.outbox SET rule = array_to_string(array_remove(string_to_array(rule, ' '), $2), ' ')
    WHERE entry = ANY ($1::bigint[]) AND ${waits}`,
  deleteEntries: "DELETE FROM store.outbox WHERE entry = ANY ($1::bigint[])",
  deleteUnawaited: "DELETE FROM store.outbox WHERE entry = ANY ($1::bigint[]) AND rule = ''",
});

export interface OutboxOptions {
  readonly database: Database;
  /** Returns the matching rows. Rejects if the bucket is missing. */
  readonly readMatches: (
    bucket: string,
    statement: Statement,
    values: readonly unknown[],
  ) => Promise<readonly Row[]>;
}

export function createOutbox({ database, readMatches }: OutboxOptions): Outbox {
  return {
    async outboxEvents(bucket, rule, { events, bytes }) {
      const rows = await readMatches(bucket, queries.outboxEvents, [rule, events, bytes]);
      return rows.map(([entry, event]) => ({ entry: Number(entry), text: String(event) }));
    },
    async ackEvents(bucket, rule, entries) {
      await readMatches(bucket, queries.bucket, []);
      if (entries.length === 0) return;
      const deleted = await database.run(acknowledgements.deleteEvents, [entries, rule]);
      if (deleted.length === entries.length) return;
      await database.run(acknowledgements.removeRule, [entries, rule]);
      await database.run(acknowledgements.deleteUnawaited, [entries]);
    },
    async eventCounts(bucket) {
      const rows = await readMatches(bucket, queries.eventCounts, []);
      return countByRule(rows.map(([rules, events]) => [String(rules), Number(events)]));
    },
    async eventUsage(bucket) {
      const [[events, bytes] = []] = await readMatches(bucket, queries.eventUsage, []);
      return { events: Number(events), bytes: Number(bytes) };
    },
    async dropOldestEvents(bucket, count) {
      const rows = await readMatches(bucket, queries.oldestEntries, [count]);
      const entries = rows.map(([entry]) => Number(entry));
      if (entries.length > 0) await database.run(acknowledgements.deleteEntries, [entries]);
      return entries.length;
    },
  };
}
