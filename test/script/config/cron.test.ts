// Cron expressions: their next runs, and how invalid expressions are refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { nextRun, parseCron } from "../../../src/script/config/cron.ts";

/** Returns the start times of the next `count` runs, without seconds. */
function runs(expression: string, after: string, count: number): string[] {
  const cron = parseCron(expression);
  const found: string[] = [];
  let last = new Date(`${after}Z`);
  for (let i = 0; i < count; i++) {
    last = nextRun(cron, last);
    found.push(last.toISOString().slice(0, 16));
  }
  return found;
}

const comes: readonly (readonly [expression: string, after: string, ...runs: string[]])[] = [
  ["* * * * *", "2026-11-15T10:00:00", "2026-11-15T10:01", "2026-11-15T10:02"],
  ["* * * * *", "2026-11-15T10:00:59.999", "2026-11-15T10:01"],
  ["*/5 * * * *", "2026-11-15T23:52", "2026-11-15T23:55", "2026-11-16T00:00"],
  ["7/20 * * * *", "2026-11-15T10:00", "2026-11-15T10:07", "2026-11-15T10:27", "2026-11-15T10:47"],
  ["10-20/5,50 3 * * *", "2026-11-15T03:10", "2026-11-15T03:15", "2026-11-15T03:20", "2026-11-15T03:50"],
  ["0 0 1 JAN *", "2026-11-15T00:00", "2027-01-01T00:00", "2028-01-01T00:00"],
  ["30 4 1,15 * *", "2026-11-14T00:00", "2026-11-15T04:30", "2026-12-01T04:30"],
  ["0 9 * * mon-fri", "2026-11-13T09:00", "2026-11-16T09:00", "2026-11-17T09:00"],
  ["0 0 * * 0", "2026-11-13T00:00", "2026-11-15T00:00", "2026-11-22T00:00"],
  ["0 0 * * 7", "2026-11-13T00:00", "2026-11-15T00:00", "2026-11-22T00:00"],
  ["0 0 * * SAT-SUN", "2026-11-13T00:00", "2026-11-14T00:00", "2026-11-15T00:00", "2026-11-21T00:00"],
  ["0 0 * * 5-7", "2026-11-13T00:00", "2026-11-14T00:00", "2026-11-15T00:00", "2026-11-20T00:00"],
  ["0 0 13 * FRI", "2026-11-01T00:00", "2026-11-06T00:00", "2026-11-13T00:00", "2026-11-20T00:00"],
  ["0 0 */10 * FRI", "2026-11-01T00:00", "2026-12-11T00:00", "2027-01-01T00:00"],
  ["0 0 31 * *", "2026-11-01T00:00", "2026-12-31T00:00", "2027-01-31T00:00", "2027-03-31T00:00"],
  ["0 0 29 2 *", "2026-11-01T00:00", "2028-02-29T00:00", "2032-02-29T00:00"],
  ["0 0 29 2 *", "2096-03-01T00:00", "2104-02-29T00:00"],
  ["0 0 29 2 */7", "2026-11-01T00:00", "2032-02-29T00:00", "2060-02-29T00:00"],
  ["0 0 30 2 MON", "2026-11-01T00:00", "2027-02-01T00:00", "2027-02-08T00:00"],
  ["  0  12\t* nov-DEC/1 *  ", "2026-10-15T00:00", "2026-11-01T12:00"],
];

test("each cron expression matches the expected minutes in UTC", async (t) => {
  for (const [expression, after, ...expected] of comes) {
    await t.test(`"${expression}" has the expected next runs after ${after}`, () => {
      assert.deepEqual(runs(expression, after, expected.length), expected);
    });
  }
});

const refused: readonly (readonly [expression: string, words: RegExp])[] = [
  ["", /is empty: a cron expression has five fields/],
  ["   ", /is empty/],
  ["* * * *", /has 4 fields, and a cron expression has five fields: minute, hour/],
  ["*", /has 1 field, /],
  ["0 * * * * *", /has 6 fields.*There are no seconds/],
  ["@daily", /"@daily" is a nickname/],
  ["60 * * * *", /The minute must be 0 to 59: "60"/],
  ["* 24 * * *", /The hour must be 0 to 23: "24"/],
  ["* * 0 * *", /The day of month must be 1 to 31: "0"/],
  ["* * * 13 *", /The month must be 1 to 12, or JAN to DEC: "13"/],
  ["* * * * 8", /The day of week must be 0 to 7, or SUN to SAT: "8"/],
  ["* * * january *", /The month must be .*: "january"/],
  ["mon * * * *", /The minute must be 0 to 59: "mon"/],
  ["*/0 * * * *", /the step of "\*\/0" must be 1 or more/],
  ["*/x * * * *", /In the minute, "\*\/x" is not a number, range, step or \*/],
  ["5-1 * * * *", /In the minute, "5-1" runs backwards/],
  ["* * * * fri-mon", /In the day of week, "fri-mon" runs backwards/],
  ["1,,2 * * * *", /The minute "1,,2" has a comma too many/],
  ["* * L * *", /The day of month must be 1 to 31: "L"/],
  ["* * ? * *", /In the day of month, "\?" is not/],
  ["* * * * 1#2", /In the day of week, "1#2" is not/],
  ["-1 * * * *", /In the minute, "-1" is not/],
  ["1.5 * * * *", /In the minute, "1.5" is not/],
  ["0 0 30 2 *", /never comes: no month it names has a day 30/],
  ["0 0 31 4,6,9,11 *", /never comes: no month it names has a day 31/],
];

test("an invalid cron expression is refused with the reason", async (t) => {
  for (const [expression, message] of refused) {
    await t.test(`the cron expression "${expression}" is refused`, () => {
      assert.throws(() => parseCron(expression), { name: "RangeError", message });
    });
  }
});

test("the next run of a cron expression is the first matching full minute after the given time", () => {
  const field = (first: number, last: number) =>
    fc.oneof(
      fc.constant("*"),
      fc.integer({ min: first, max: last }).map(String),
      fc.integer({ min: 1, max: last }).map((step) => `*/${step}`),
      fc
        .tuple(fc.integer({ min: first, max: last }), fc.integer({ min: first, max: last }))
        .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    );
  const expressions = fc
    .tuple(field(0, 59), field(0, 23), field(1, 28), fc.constant("*"), field(0, 7))
    .map((fields) => fields.join(" "));
  const instants = fc.date({ min: new Date("2020-01-01"), max: new Date("2030-01-01"), noInvalidDate: true });
  fc.assert(
    fc.property(expressions, instants, (expression, after) => {
      const cron = parseCron(expression);
      const next = nextRun(cron, after);
      assert.ok(next.getTime() > after.getTime());
      assert.equal(next.getTime() % 60_000, 0);
      assert.ok(cron.minutes.has(next.getUTCMinutes()) && cron.hours.has(next.getUTCHours()));
      // Any start between `after` and `next` must give the same next run.
      const between = after.getTime() + Math.floor((next.getTime() - after.getTime() - 1) / 2);
      assert.equal(nextRun(cron, new Date(between)).getTime(), next.getTime());
    }),
    { numRuns: 200 },
  );
});

test("a cron expression has no next run after an invalid date or the last possible date", () => {
  const cron = parseCron("* * * * *");
  assert.throws(() => nextRun(cron, new Date(Number.NaN)), RangeError);
  assert.throws(() => nextRun(cron, new Date(8.64e15)), RangeError);
});
