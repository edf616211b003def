// Parses times on the command line: ISO 8601, a date, or a duration before or after now.
import { parseDuration } from "../../access/grants.ts";
import { isCalendarDate } from "../../model/iso-time.ts";
import { parseOrUsageError, usageError } from "./command-error.ts";

/** A space instead of the T is allowed, because tables print times in this way. */
const dateTime = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?$/;
const duration = /^\d+[a-z]+$/i;

/** Describes the accepted forms of `parsePastTime` in a help text. */
export const pastTimeRule = "2026-11-15T12:00:00Z, 2026-11-15 (its start), or 2h for 2 hours ago";

/** Parses a time that has passed. The result is in milliseconds since the epoch. */
export function parsePastTime(name: string, text: string, now = Date.now()): number {
  if (duration.test(text)) return now - parseOrUsageError(() => parseDuration(text));
  const time = parseInstant(name, text, "2h for 2 hours ago");
  if (time <= now) return time;
  throw usageError(`${name} must be in the past, but "${text}" is in the future.`);
}

/** Parses a time that is still to come. The result is in milliseconds since the epoch. */
export function parseFutureTime(name: string, text: string, now = Date.now()): number {
  if (duration.test(text)) return now + parseOrUsageError(() => parseDuration(text));
  const time = parseInstant(name, text, "30d for 30 days from now");
  if (time > now) return time;
  throw usageError(`${name} must be in the future, but "${text}" is in the past.`);
}

/** Times without a zone are local times, like the times that commands print on a terminal. */
function parseInstant(name: string, text: string, relative: string): number {
  const [, day, clock, zone = ""] = dateTime.exec(text) ?? [];
  const time = day === undefined ? Date.parse(`${text}T00:00`) : Date.parse(`${day}T${clock}${zone}`);
  if (!Number.isNaN(time) && isCalendarDate(day ?? text)) return time;
  throw usageError(
    `${name} needs a time, not "${text}".`,
    `Write a time such as 2026-11-15T12:00:00Z, a date such as 2026-11-15, or ${relative}.`,
  );
}
