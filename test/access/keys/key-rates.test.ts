// Rates of access keys. The test controls the clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createKeyRates } from "../../../src/access/keys/key-rates.ts";

test("a key may send one second of requests at once, and then as many as its rate allows", () => {
  let time = 0;
  const rates = createKeyRates(() => time, 1);
  const limits = { requestsPerSecond: 5 };
  const take = (key = "a") => rates.takeRequest(key, limits);
  for (let i = 0; i < 5; i++) assert.equal(take(), 0);
  assert.equal(take(), 200, "the next request can be sent after a fifth of a second");
  assert.equal(take("b"), 0, "another key has its own rate");
  time += 200;
  assert.equal(take(), 0);
  assert.equal(take(), 200);
  time += 60_000;
  for (let i = 0; i < 5; i++) assert.equal(take(), 0);
  assert.equal(take(), 200, "unused time adds up to no more than one second");
  assert.equal(rates.takeRequest("c", {}), 0);
});

test("bytes beyond the rate are accepted and become a wait, which all streams of the key share", () => {
  let time = 0;
  const rates = createKeyRates(() => time, 1);
  const take = (bytes: number) => rates.takeBytes("a", { bytesPerSecond: 1000 }, bytes);
  assert.equal(take(1000), 0);
  assert.equal(take(500), 500);
  assert.equal(take(500), 1000);
  time += 1000;
  assert.equal(take(0), 0);
  assert.equal(take(1), 1);
});

test("each process gets an equal share of the rates, but at least one request at a time", () => {
  let time = 0;
  const rates = createKeyRates(() => time, 4);
  const limits = { requestsPerSecond: 2, bytesPerSecond: 4000 };
  assert.equal(rates.takeBytes("a", limits, 2000), 1000);
  assert.equal(rates.takeRequest("a", limits), 0);
  assert.equal(rates.takeRequest("a", limits), 2000);
  time += 2000;
  assert.equal(rates.takeRequest("a", limits), 0);
});

test("a clock that goes back grants nothing and takes nothing away", () => {
  let time = 10_000;
  const rates = createKeyRates(() => time, 1);
  assert.equal(rates.takeBytes("a", { bytesPerSecond: 10 }, 10), 0);
  time = 0;
  assert.equal(rates.takeBytes("a", { bytesPerSecond: 10 }, 10), 1000);
});

test("the number of remembered keys is bounded", () => {
  const rates = createKeyRates(() => 0, 1);
  const limits = { requestsPerSecond: 1 };
  assert.equal(rates.takeRequest("first", limits), 0);
  for (let i = 0; i < 10_000; i++) rates.takeRequest(`key ${i}`, limits);
  assert.equal(rates.takeRequest("first", limits), 0, "the oldest key was forgotten");
});
