// Cron expressions as in crontab(5), in UTC: minute, hour, day of month, month, day of week. Sunday
// is 0 or 7; in wrangler files Sunday is 1 and Saturday is 7.

export interface Cron {
  readonly text: string;
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly daysOfMonth: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  /** Days of the week; 0 is Sunday. */
  readonly daysOfWeek: ReadonlySet<number>;
  /** Whether one matching day field is enough: both are given, and neither starts with `*`. */
  readonly eitherDay: boolean;
}

/** The number that means Sunday: 0 as in crontab, or 1 as in wrangler files. */
export type Sunday = 0 | 1;

interface Field {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  /** Names of the values, starting at `first`. */
  readonly names?: readonly string[];
}

const fields: readonly Field[] = [
  { name: "minute", first: 0, last: 59 },
  { name: "hour", first: 0, last: 23 },
  { name: "day of month", first: 1, last: 31 },
  { name: "month", first: 1, last: 12, names: splitWords("jan feb mar apr may jun jul aug sep oct nov dec") },
  { name: "day of week", first: 0, last: 7, names: splitWords("sun mon tue wed thu fri sat") },
];

const maxMonthDays = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** The calendar repeats every 400 years, so an expression without a match by then never matches. */
const maxSearchMilliseconds = 400 * 366 * 24 * 3600 * 1000;

function splitWords(text: string): readonly string[] {
  return text.split(" ");
}

const weekFromOne: Field = { ...fields[4]!, first: 1 };

/** Throws a RangeError that states the fault of an invalid expression. */
export function parseCron(text: string, sunday: Sunday = 0): Cron {
  const fieldTexts = text.trim().split(/\s+/);
  if (fieldTexts.length !== fields.length || fieldTexts[0] === "")
    throw new RangeError(countFault(text, fieldTexts));
  const [minutes, hours, daysOfMonth, months, week] = fields.map((field, i) =>
    parseField(sunday === 1 && i === 4 ? weekFromOne : field, fieldTexts[i]!),
  ) as [Set<number>, Set<number>, Set<number>, Set<number>, Set<number>];
  const daysOfWeek = new Set([...week].map((day) => (day - sunday) % 7));
  const eitherDay = !fieldTexts[2]!.startsWith("*") && !fieldTexts[4]!.startsWith("*");
  const earliest = Math.min(...daysOfMonth);
  if (!eitherDay && ![...months].some((month) => earliest <= maxMonthDays[month - 1]!)) {
    throw new RangeError(`"${text}" never comes: no month it names has a day ${earliest}.`);
  }
  return { text, minutes, hours, daysOfMonth, months, daysOfWeek, eitherDay };
}

function countFault(text: string, fieldTexts: readonly string[]): string {
  const needed = "a cron expression has five fields: minute, hour, day of month, month, day of week";
  if (text.trim() === "") return `The expression is empty: ${needed}.`;
  if (text.trim().startsWith("@")) return `"${text}" is a nickname, and ${needed}.`;
  const seconds = fieldTexts.length === 6 ? " There are no seconds." : "";
  return `"${text}" has ${fieldTexts.length} ${fieldTexts.length === 1 ? "field" : "fields"}, and ${needed}.${seconds}`;
}

function parseField(field: Field, text: string): Set<number> {
  const numbers = new Set<number>();
  for (const item of text.split(",")) {
    const { from, to, step } = parseRange(field, item, text);
    for (let number = from; number <= to; number += step) numbers.add(number);
  }
  return numbers;
}

function parseRange(field: Field, item: string, text: string): { from: number; to: number; step: number } {
  const match = /^(?:(\*)|([0-9a-z]+)(?:-([0-9a-z]+))?)(?:\/([0-9]+))?$/i.exec(item);
  if (match === null) {
    const what = item === "" ? "has a comma too many" : `"${item}" is not a number, range, step or *`;
    throw new RangeError(
      item === "" ? `The ${field.name} "${text}" ${what}.` : `In the ${field.name}, ${what}.`,
    );
  }
  const [, star, start, end, stepText] = match;
  const step = stepText === undefined ? 1 : Number(stepText);
  if (step === 0) throw new RangeError(`In the ${field.name}, the step of "${item}" must be 1 or more.`);
  if (star !== undefined) return { from: field.first, to: field.last, step };
  const from = parseNumber(field, start!);
  if (end === undefined) return { from, to: stepText === undefined ? from : field.last, step };
  const to = parseNumber(field, end);
  // In a range such as 5-0, Sunday at the end counts as day 7.
  const last = field.name === "day of week" && to === 0 && from > 0 ? 7 : to;
  if (last < from) throw new RangeError(`In the ${field.name}, "${item}" runs backwards.`);
  return { from, to: last, step };
}

function parseNumber({ name, first, last, names = [] }: Field, text: string): number {
  const nameIndex = names.indexOf(text.toLowerCase());
  const number = nameIndex !== -1 ? first + nameIndex : /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= first && number <= last) return number;
  const nameHint =
    names.length === 0 ? "" : `, or ${names[0]!.toUpperCase()} to ${names.at(-1)!.toUpperCase()}`;
  throw new RangeError(`The ${name} must be ${first} to ${last}${nameHint}: "${text}"`);
}

/** Returns the first matching minute after the given time. */
export function nextRun(cron: Cron, after: Date): Date {
  const start = new Date(after);
  start.setUTCSeconds(60, 0);
  const minute = [...cron.minutes].sort(compareNumbers);
  const hour = [...cron.hours].sort(compareNumbers);
  const day = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()));
  // Comparing an invalid Date, or one beyond the last valid Date, is false and ends the loop.
  for (; day.getTime() <= start.getTime() + maxSearchMilliseconds; day.setUTCDate(day.getUTCDate() + 1)) {
    if (!hasDay(cron, day)) continue;
    for (const h of hour) {
      for (const m of minute) {
        const time = day.getTime() + (h * 60 + m) * 60_000;
        if (time >= start.getTime()) return new Date(time);
      }
    }
  }
  throw new RangeError(`There is no run of "${cron.text}" after ${String(after)}.`);
}

function compareNumbers(a: number, b: number): number {
  return a - b;
}

function hasDay(cron: Cron, day: Date): boolean {
  if (!cron.months.has(day.getUTCMonth() + 1)) return false;
  const isMonthDay = cron.daysOfMonth.has(day.getUTCDate());
  const isWeekDay = cron.daysOfWeek.has(day.getUTCDay());
  return cron.eitherDay ? isMonthDay || isWeekDay : isMonthDay && isWeekDay;
}
