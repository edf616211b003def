// Cron expressions, as crontab(5) has them: minute, hour, day of month, month, day of week, in UTC. Each is
// `*`, a number, a range `a-b`, any of these with a step `/n`, or a list of them; months and days of the week
// may be named by three letters. Sunday is 0 and 7. When both days are given, either one is enough.
// Wrangler files number the days of the week from 1, Sunday, to 7, Saturday.

export interface Cron {
  readonly text: string;
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly daysOfMonth: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  /** 0 is Sunday. */
  readonly daysOfWeek: ReadonlySet<number>;
  /** Whether one of the days is enough: both fields are given, neither begins with `*`. */
  readonly eitherDay: boolean;
}

/** The number of Sunday: 0 as in crontab, or 1. */
export type Sunday = 0 | 1;

interface Field {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  /** Names of the numbers from `first` on. */
  readonly names?: readonly string[];
}

const fields: readonly Field[] = [
  { name: "minute", first: 0, last: 59 },
  { name: "hour", first: 0, last: 23 },
  { name: "day of month", first: 1, last: 31 },
  { name: "month", first: 1, last: 12, names: words("jan feb mar apr may jun jul aug sep oct nov dec") },
  { name: "day of week", first: 0, last: 7, names: words("sun mon tue wed thu fri sat") },
];

const longestMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** The calendar repeats itself after 400 years: what has not come by then never does. */
const farthest = 400 * 366 * 24 * 3600 * 1000;

function words(text: string): readonly string[] {
  return text.split(" ");
}

const weekFromOne: Field = { ...fields[4]!, first: 1 };

/** A RangeError says what is wrong in an expression that is none. */
export function parseCron(text: string, sunday: Sunday = 0): Cron {
  const given = text.trim().split(/\s+/);
  if (given.length !== fields.length || given[0] === "") throw new RangeError(countFault(text, given));
  const [minutes, hours, daysOfMonth, months, week] = fields.map((field, i) =>
    numbersOf(sunday === 1 && i === 4 ? weekFromOne : field, given[i]!),
  ) as [Set<number>, Set<number>, Set<number>, Set<number>, Set<number>];
  const daysOfWeek = new Set([...week].map((day) => (day - sunday) % 7));
  const eitherDay = !given[2]!.startsWith("*") && !given[4]!.startsWith("*");
  const earliest = Math.min(...daysOfMonth);
  if (!eitherDay && ![...months].some((month) => earliest <= longestMonths[month - 1]!)) {
    throw new RangeError(`"${text}" never comes: no month it names has a day ${earliest}.`);
  }
  return { text, minutes, hours, daysOfMonth, months, daysOfWeek, eitherDay };
}

function countFault(text: string, given: readonly string[]): string {
  const needed = "a cron expression has five fields: minute, hour, day of month, month, day of week";
  if (text.trim() === "") return `The expression is empty: ${needed}.`;
  if (text.trim().startsWith("@")) return `"${text}" is a nickname, and ${needed}.`;
  const seconds = given.length === 6 ? " There are no seconds." : "";
  return `"${text}" has ${given.length} ${given.length === 1 ? "field" : "fields"}, and ${needed}.${seconds}`;
}

function numbersOf(field: Field, text: string): Set<number> {
  const numbers = new Set<number>();
  for (const item of text.split(",")) {
    const { from, to, step } = rangeOf(field, item, text);
    for (let number = from; number <= to; number += step) numbers.add(number);
  }
  return numbers;
}

function rangeOf(field: Field, item: string, text: string): { from: number; to: number; step: number } {
  const match = /^(?:(\*)|([0-9a-z]+)(?:-([0-9a-z]+))?)(?:\/([0-9]+))?$/i.exec(item);
  if (match === null) {
    const what = item === "" ? "has a comma too many" : `"${item}" is not a number, range, step or *`;
    throw new RangeError(
      item === "" ? `The ${field.name} "${text}" ${what}.` : `In the ${field.name}, ${what}.`,
    );
  }
  const [, star, start, end, every] = match;
  const step = every === undefined ? 1 : Number(every);
  if (step === 0) throw new RangeError(`In the ${field.name}, the step of "${item}" must be 1 or more.`);
  if (star !== undefined) return { from: field.first, to: field.last, step };
  const from = numberOf(field, start!);
  if (end === undefined) return { from, to: every === undefined ? from : field.last, step };
  const to = numberOf(field, end);
  // A week that ends on Sunday ends on its seventh day.
  const last = field.name === "day of week" && to === 0 && from > 0 ? 7 : to;
  if (last < from) throw new RangeError(`In the ${field.name}, "${item}" runs backwards.`);
  return { from, to: last, step };
}

function numberOf({ name, first, last, names = [] }: Field, text: string): number {
  const named = names.indexOf(text.toLowerCase());
  const number = named !== -1 ? first + named : /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= first && number <= last) return number;
  const orNamed =
    names.length === 0 ? "" : `, or ${names[0]!.toUpperCase()} to ${names.at(-1)!.toUpperCase()}`;
  throw new RangeError(`The ${name} must be ${first} to ${last}${orNamed}: "${text}"`);
}

/** The first minute behind the given instant at which the expression comes. */
export function nextRun(cron: Cron, after: Date): Date {
  const start = new Date(after);
  start.setUTCSeconds(60, 0);
  const minute = [...cron.minutes].sort(ascending);
  const hour = [...cron.hours].sort(ascending);
  const day = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()));
  // Past the last day that a Date can hold, or from none at all, every comparison fails.
  for (; day.getTime() <= start.getTime() + farthest; day.setUTCDate(day.getUTCDate() + 1)) {
    if (!hasDay(cron, day)) continue;
    for (const h of hour) {
      for (const m of minute) {
        const time = day.getTime() + (h * 60 + m) * 60_000;
        if (time >= start.getTime()) return new Date(time);
      }
    }
  }
  throw new RangeError(`There is no run of "${cron.text}" behind ${String(after)}.`);
}

function ascending(a: number, b: number): number {
  return a - b;
}

function hasDay(cron: Cron, day: Date): boolean {
  if (!cron.months.has(day.getUTCMonth() + 1)) return false;
  const ofMonth = cron.daysOfMonth.has(day.getUTCDate());
  const ofWeek = cron.daysOfWeek.has(day.getUTCDay());
  return cron.eitherDay ? ofMonth || ofWeek : ofMonth && ofWeek;
}
