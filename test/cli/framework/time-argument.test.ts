// Times on the command line: ISO 8601, dates and durations before or after now.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CommandError } from "../../../src/cli/framework/command-error.ts";
import { parseFutureTime, parsePastTime } from "../../../src/cli/framework/time-argument.ts";

const now = Date.parse("2026-11-15T12:00:00.000Z");
const hour = 60 * 60 * 1000;

test("a past time is an ISO 8601 time, a date or a duration before now", () => {
  const past = (text: string) => parsePastTime("--at", text, now);
  assert.equal(past("2026-11-15T11:59:59.123Z"), Date.parse("2026-11-15T11:59:59.123Z"));
  assert.equal(past("2026-11-15T11:00+01:00"), Date.parse("2026-11-15T10:00:00Z"));
  assert.equal(past("2h"), now - 2 * hour);
  assert.equal(past("1W"), now - 7 * 24 * hour);
  assert.equal(past("2026-11-15T12:00:00Z"), now);
});

test("a time or date without a zone is local, as commands print times on a terminal", () => {
  const past = (text: string) => parsePastTime("--at", text, now);
  assert.equal(past("2026-11-14"), new Date(2026, 10, 14).getTime());
  assert.equal(past("2026-11-14 08:30:15"), new Date(2026, 10, 14, 8, 30, 15).getTime());
  assert.equal(past("2026-11-14T08:30"), new Date(2026, 10, 14, 8, 30).getTime());
});

test("a future time is an ISO 8601 time, a date or a duration after now", () => {
  const future = (text: string) => parseFutureTime("--until", text, now);
  assert.equal(future("30d"), now + 30 * 24 * hour);
  assert.equal(future("2027-01-31T12:00:00Z"), Date.parse("2027-01-31T12:00:00Z"));
  assert.equal(future("2027-01-31"), new Date(2027, 0, 31).getTime());
});

test("text that is not a time, and a time on the wrong side of now, are usage errors", () => {
  const refused = (parse: () => number, message: RegExp) =>
    assert.throws(parse, (error) => {
      assert.ok(error instanceof CommandError);
      assert.equal(error.exitCode, 2);
      assert.match(error.message, message);
      return true;
    });
  const wrong = [
    "",
    "yesterday",
    "2026-02-30",
    "2026-13-01",
    "2026-11-15T25:00Z",
    "12:00",
    "1763208000",
    "-2h",
  ];
  for (const text of wrong) refused(() => parsePastTime("--at", text, now), /^--at needs a time/);
  refused(() => parsePastTime("--at", "2026-11-15T12:00:01Z", now), /must be in the past/);
  refused(() => parsePastTime("--at", "2x", now), /is not a duration/);
  refused(() => parseFutureTime("--until", "2026-11-15T12:00:00Z", now), /must be in the future/);
  refused(() => parseFutureTime("--until", "soon", now), /^--until needs a time/);
});
