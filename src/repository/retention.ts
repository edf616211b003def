// Which backups to keep: "7d,4w,12m" keeps the last backup of each of the latest 7 days, 4 weeks
// and 12 months that have one. Days, weeks (from Monday) and months are those of UTC.
import type { KeepPeriod, KeepRule } from "../model/backup.ts";

const maxCount = 10_000;

/** Parses a rule such as "7d,4w,12m". Throws a RangeError that describes the forms. */
export function parseKeepRule(text: string): KeepRule {
  const rule = new Map<KeepPeriod, number>();
  for (const part of text.split(",")) {
    const [, digits, period] = /^(\d{1,6})([dwmy])$/.exec(part.trim()) ?? [];
    const count = Number(digits);
    if (period === undefined || count < 1 || count > maxCount) {
      throw new RangeError(
        `"${text}" does not say which backups to keep: write numbers of days, weeks, months and years, such as 7d,4w,12m`,
      );
    }
    if (rule.has(period as KeepPeriod)) throw new RangeError(`"${text}" has "${period}" more than once`);
    rule.set(period as KeepPeriod, count);
  }
  return rule;
}

/** Returns the backups to keep. The newest backup is always kept. */
export function chooseKept<T extends { readonly time: number }>(
  backups: readonly T[],
  rule: KeepRule,
): ReadonlySet<T> {
  const newestFirst = [...backups].sort((a, b) => b.time - a.time);
  const kept = new Set<T>(newestFirst.slice(0, 1));
  for (const [period, count] of rule) {
    const seen = new Set<number>();
    for (const backup of newestFirst) {
      const number = periodNumber(period, backup.time);
      if (seen.has(number)) continue;
      if (seen.size === count) break;
      seen.add(number);
      kept.add(backup);
    }
  }
  return kept;
}

const dayMilliseconds = 24 * 3600 * 1000;
/** 1970-01-01 was a Thursday, three days after a Monday. */
const daysAfterMonday = 3;

function periodNumber(period: KeepPeriod, time: number): number {
  const date = new Date(time);
  const day = Math.floor(time / dayMilliseconds);
  switch (period) {
    case "d":
      return day;
    case "w":
      return Math.floor((day + daysAfterMonday) / 7);
    case "m":
      return date.getUTCFullYear() * 12 + date.getUTCMonth();
    case "y":
      return date.getUTCFullYear();
    default:
      return period satisfies never;
  }
}
