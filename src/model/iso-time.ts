// Parses times in ISO 8601. `Date.parse` alone accepts days that no month has, such as November 31st,
// and returns a day of the next month.

const isoTime = /^(\d{4}-\d\d-\d\d)(?:T(\d\d):\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;
const isoDate = /^(\d{4})-(\d\d)-(\d\d)$/;

/**
 * Returns milliseconds since the epoch. A date without a time is midnight UTC, and a time needs its
 * zone. Undefined if the text has another form or names a day or an hour that does not exist.
 */
export function parseIsoTime(text: string): number | undefined {
  const [, date, hour = "00"] = isoTime.exec(text) ?? [];
  if (date === undefined || hour === "24" || !isCalendarDate(date)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

/** Whether the text is a date of the calendar, such as 2028-02-29. */
export function isCalendarDate(text: string): boolean {
  const [, year, month, day] = (isoDate.exec(text) ?? []).map(Number);
  if (year === undefined) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return date.getUTCMonth() + 1 === month && date.getUTCDate() === day;
}
