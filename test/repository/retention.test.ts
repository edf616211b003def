// Which backups a rule keeps.
import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseKept, parseKeepRule } from "../../src/repository/retention.ts";

const day = 24 * 3600 * 1000;

function kept(times: readonly string[], rule: string): string[] {
  const backups = times.map((text) => ({ text, time: Date.parse(text) }));
  const chosen = chooseKept(backups, parseKeepRule(rule));
  return backups.filter((backup) => chosen.has(backup)).map(({ text }) => text);
}

test("a rule keeps the last backup of each day, week and month", () => {
  const times = [
    "2026-08-31T23:00:00Z",
    "2026-09-30T23:00:00Z",
    "2026-10-31T23:00:00Z",
    "2026-11-01T23:00:00Z", // Sunday
    "2026-11-08T23:00:00Z", // Sunday
    "2026-11-09T01:00:00Z", // Monday
    "2026-11-15T01:00:00Z", // Sunday
    "2026-11-15T02:00:00Z",
    "2026-11-16T02:00:00Z",
    "2026-11-17T02:00:00Z",
  ];
  assert.deepEqual(kept(times, "2d"), times.slice(-2));
  assert.deepEqual(kept(times, "2d,3w"), [
    ...["2026-11-08T23:00:00Z", "2026-11-15T02:00:00Z"],
    ...times.slice(-2),
  ]);
  assert.deepEqual(kept(times, "3m"), [
    ...["2026-09-30T23:00:00Z", "2026-10-31T23:00:00Z", "2026-11-17T02:00:00Z"],
  ]);
  assert.deepEqual(kept(times, "1y"), times.slice(-1));
});

test("days without a backup do not count", () => {
  const times = ["2026-01-01T00:00:00Z", "2026-05-01T00:00:00Z", "2026-11-17T00:00:00Z"];
  assert.deepEqual(kept(times, "3d"), times);
  assert.deepEqual(kept([], "3d"), []);
});

test("a year of daily backups with 7d,4w,12m keeps 7 days, 4 weeks and 12 months", () => {
  const end = Date.parse("2026-11-17T03:00:00Z");
  const backups = Array.from({ length: 400 }, (_, age) => ({ time: end - age * day }));
  const chosen = chooseKept(backups, parseKeepRule("7d,4w,12m"));
  // Of the 4 weeks, the current one and the last one are among the 7 days; so is the current month.
  assert.equal(chosen.size, 7 + 2 + 11);
});

test("a rule that names no periods is refused", () => {
  for (const text of ["", "7", "d", "7x", "0d", "7d,,4w", "7d;4w", "1d,2d", "-1d", "10001d", "1.5d"])
    assert.throws(() => parseKeepRule(text), RangeError, text);
});
