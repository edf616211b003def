// Times in ISO 8601: days and hours that do not exist are refused, not moved to the next.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseHttpDate } from "../../src/http/headers.ts";
import { isCalendarDate, parseIsoTime } from "../../src/model/iso-time.ts";

test("a date is midnight UTC, and a time needs its zone", () => {
  assert.equal(parseIsoTime("2026-11-30"), Date.UTC(2026, 10, 30));
  assert.equal(parseIsoTime("2028-02-29T12:30Z"), Date.UTC(2028, 1, 29, 12, 30));
  assert.equal(parseIsoTime("2026-11-30T01:00:00.123456789+02:00"), Date.UTC(2026, 10, 29, 23, 0, 0, 123));
  for (const text of [
    "",
    "2026",
    "2026-11",
    "20261130",
    "2026-11-30T12:00",
    "2026-11-30 12:00Z",
    "1796083200",
  ])
    assert.equal(parseIsoTime(text), undefined, text);
});

test("days, hours and zones that do not exist are refused", () => {
  for (const text of [
    ...["2026-11-31", "2026-02-29", "2026-02-30T00:00:00Z", "2026-04-31T12:00:00+01:00", "2100-02-29"],
    ...["2026-00-10", "2026-13-01", "2026-01-00", "2026-01-32"],
    ...["2026-11-30T24:00:00Z", "2026-11-30T12:60Z", "2026-11-30T12:00:60Z", "2026-11-30T12:00+99:00"],
  ])
    assert.equal(parseIsoTime(text), undefined, text);
  assert.ok(isCalendarDate("2028-02-29"));
  for (const text of ["2026-02-29", "2026-2-9", "2026-02-09T", "x"]) assert.ok(!isCalendarDate(text), text);
});

test("a day that no month has is no HTTP date in any of the three forms", () => {
  const time = Date.UTC(1994, 10, 6, 8, 49, 37);
  assert.equal(parseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT"), time);
  assert.equal(parseHttpDate("Sunday, 06-Nov-94 08:49:37 GMT"), time);
  assert.equal(parseHttpDate("Sun Nov  6 08:49:37 1994"), time);
  for (const text of [
    "Sun, 31 Nov 1994 08:49:37 GMT",
    "Sunday, 31-Nov-94 08:49:37 GMT",
    "Sun Nov 31 08:49:37 1994",
    "Sun, 00 Nov 1994 08:49:37 GMT",
  ])
    assert.equal(parseHttpDate(text), undefined, text);
});
