// Failed sign-ins are throttled by client address.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createAttempts } from "../../../src/console/auth/sign-in-throttle.ts";

test("failed sign-ins from one address do not lock out the owner of the token at another address", () => {
  const clock = { time: 0 };
  const attempts = createAttempts(() => clock.time);
  for (let i = 0; i < 10; i++) attempts.failed("203.0.113.9", "abcdefghij");
  assert.equal(attempts.waitFor("203.0.113.9", "abcdefghij"), 60);
  assert.equal(attempts.waitFor("192.0.2.1", "abcdefghij"), 0);
  assert.equal(attempts.waitFor("203.0.113.9", "klmnopqrst"), 0);
  assert.equal(attempts.waitFor("203.0.113.9", undefined), 0);
  clock.time = 60_000;
  assert.equal(attempts.waitFor("203.0.113.9", "abcdefghij"), 0);
});

test("all addresses of an IPv6 network count as one client", () => {
  const attempts = createAttempts(() => 0);
  for (let i = 0; i < 10; i++) attempts.failed(`2001:db8:0:7::${i}`, "abcdefghij");
  assert.equal(attempts.waitFor("2001:db8:0:7:1:2:3:4", "abcdefghij"), 60);
  assert.equal(attempts.waitFor("2001:db8:0:8::1", "abcdefghij"), 0);
});

test("a clock that is set back locks no client out", () => {
  const clock = { time: 1e12 };
  const attempts = createAttempts(() => clock.time);
  for (let i = 0; i < 10; i++) attempts.failed("203.0.113.9", undefined);
  assert.equal(attempts.waitFor("203.0.113.9", undefined), 60);
  clock.time -= 24 * 3600_000;
  assert.equal(attempts.waitFor("203.0.113.9", undefined), 0);
});

test("the sign-in throttle remembers a limited number of addresses, the most recent ones", () => {
  const attempts = createAttempts(() => 0);
  for (let i = 0; i < 10; i++) attempts.failed("first", undefined);
  for (let i = 0; i < 10_000; i++) attempts.failed(`address ${i}`, undefined);
  assert.equal(attempts.waitFor("first", undefined), 0);
  for (let i = 0; i < 10; i++) attempts.failed("last", undefined);
  assert.equal(attempts.waitFor("last", undefined), 60);
});
