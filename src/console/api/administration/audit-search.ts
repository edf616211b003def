// Searches the audit log, newest entries first. The log is read from its beginning, so the latest
// entries are kept in memory, and a search that they answer reads only what is new.
import type { AuditEntry, AuditLog, LoggedEntry } from "../../../audit/audit-log.ts";

export interface AuditFilter {
  /** Every word must be in the entry. */
  readonly text: string;
  /** Only these actions; undefined for all. */
  readonly actions: readonly string[] | undefined;
  /** ISO 8601. */
  readonly since: string | undefined;
  readonly until: string | undefined;
  /** Only entries before this one, counted from the beginning of the log. */
  readonly before: number | undefined;
  readonly limit: number;
}

export interface NumberedEntry {
  readonly number: number;
  readonly entry: LoggedEntry["entry"];
}

export interface AuditSearch {
  /** Returns at most `limit` entries, and whether there are more. */
  find(
    filter: AuditFilter,
  ): Promise<{ readonly entries: readonly NumberedEntry[]; readonly isMore: boolean }>;
}

const maxKept = 10_000;

export function createAuditSearch(log: Pick<AuditLog, "read">, max = maxKept): AuditSearch {
  let kept: NumberedEntry[] = [];
  let position: string | undefined;
  let count = 0;
  let queue: Promise<unknown> = Promise.resolve();

  /** Reads one search at a time: each may read the whole log. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const run = queue.then(work);
    queue = run.catch(() => {});
    return run;
  }

  async function catchUp(): Promise<void> {
    for await (const item of log.read(position)) {
      position = item.position;
      count++;
      kept.push({ number: count, entry: item.entry });
      if (kept.length > 2 * max) kept = kept.slice(-max);
    }
  }

  /** Reads the whole log and keeps only what the answer needs. */
  async function scan(filter: AuditFilter): Promise<NumberedEntry[]> {
    const found: NumberedEntry[] = [];
    let number = 0;
    for await (const { entry } of log.read()) {
      number++;
      if (number > count) break;
      if (!isMatch({ number, entry }, filter)) continue;
      found.push({ number, entry });
      if (found.length > 2 * (filter.limit + 1)) found.splice(0, found.length - filter.limit - 1);
    }
    return found.slice(-(filter.limit + 1));
  }

  return {
    find: (filter) =>
      inTurn(async () => {
        await catchUp();
        const first = kept[0]?.number ?? 1;
        let found = kept.filter((one) => isMatch(one, filter)).slice(-(filter.limit + 1));
        const isOlderKnown = found.length > filter.limit || first === 1 || isBeforeSince(kept[0], filter);
        if (!isOlderKnown) found = await scan(filter);
        const isMore = found.length > filter.limit;
        return { entries: found.slice(isMore ? 1 : 0).reverse(), isMore };
      }),
  };
}

function isBeforeSince(oldest: NumberedEntry | undefined, { since }: AuditFilter): boolean {
  return oldest !== undefined && since !== undefined && oldest.entry.time < since;
}

function isMatch({ number, entry }: NumberedEntry, filter: AuditFilter): boolean {
  const { text, actions, since, until, before } = filter;
  if (before !== undefined && number >= before) return false;
  if (actions !== undefined && !actions.includes(entry.act)) return false;
  if (since !== undefined && entry.time < since) return false;
  if (until !== undefined && entry.time > until) return false;
  if (text === "") return true;
  const searched = searchedText(entry);
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word));
}

/** Also has the past tense of the action, so that "deleted photos" finds "delete bucket photos". */
function searchedText({ act, subject, detail, by }: AuditEntry): string {
  const [verb = ""] = act.split(" ");
  const past = verb.endsWith("e") ? `${verb}d` : `${verb}ed`;
  return [act, past, subject, detail, by.face, by.name, by.remoteAddress, by.request].join(" ").toLowerCase();
}
