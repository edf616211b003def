// Rates of access keys in the S3 API. The clock and the pauses are those of the test.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createPacing } from "../../../src/s3/body/pacing.ts";
import { collect, inChunks, sampleBytes } from "../../support/bytes.ts";
import { directScene } from "../direct.ts";
import { boundary, encodeForm, signedFields } from "../form.ts";

/** A clock that advances only by pauses. */
function slowClock() {
  const clock = {
    time: Date.now(),
    paused: 0,
    now: () => clock.time,
    async pause(milliseconds: number) {
      clock.time += milliseconds;
      clock.paused += milliseconds;
    },
  };
  return clock;
}

test("a key beyond its rate of requests gets SlowDown with Retry-After, before the body is read", async (t) => {
  const clock = slowClock();
  const { ask, newKey, engine } = await directScene(t, { now: clock.now, pause: clock.pause });
  await engine.createBucket("bucket");
  const key = await newKey({ limits: { requestsPerSecond: 2 } });
  const list = () => ask({ method: "GET", path: "/" }, { key, time: clock.time });
  assert.equal((await list()).status, 200);
  assert.equal((await list()).status, 200);
  let isRead = false;
  async function* stream() {
    isRead = true;
    yield sampleBytes(10);
  }
  const put = { method: "PUT", path: "/bucket/key", headers: { "content-length": "10" }, stream };
  const refused = await ask(put, { key, time: clock.time, payload: "UNSIGNED-PAYLOAD" });
  assert.deepEqual([refused.status, refused.code, refused.headers["retry-after"]], [503, "SlowDown", "1"]);
  assert.equal(isRead, false);
  assert.equal((await ask({ method: "GET", path: "/" }, { time: clock.time })).status, 200, "another key");
  clock.time += 500;
  assert.equal((await list()).status, 200);
});

test("bodies of a key are slowed down to its rate of bytes, in both directions", async (t) => {
  const clock = slowClock();
  const { ask, newKey, engine } = await directScene(t, { now: clock.now, pause: clock.pause });
  await engine.createBucket("bucket");
  const key = await newKey({ limits: { bytesPerSecond: 10_000 } });
  const body = sampleBytes(40_000);
  const stream = () => inChunks(body, 1000);
  const headers = { "content-length": "40000" };
  const signing = { key, payload: "UNSIGNED-PAYLOAD" };
  const put = await ask(
    { method: "PUT", path: "/bucket/key", headers, stream },
    { ...signing, time: clock.time },
  );
  assert.equal(put.status, 200);
  assert.equal(clock.paused, 3000, "40,000 bytes take three seconds after the first second");
  clock.paused = 0;
  const get = await ask({ method: "GET", path: "/bucket/key" }, { key, time: clock.time });
  assert.equal(get.status, 200);
  assert.ok(clock.paused >= 3000 && clock.paused <= 4000, `paused ${clock.paused} ms`);
  clock.paused = 0;
  await ask({ method: "GET", path: "/bucket/key" }, { time: clock.time });
  assert.equal(clock.paused, 0, "a key without limits is not slowed down");
});

test("the file of a form is slowed down like the body of a put, and the form counts as a request", async (t) => {
  const clock = slowClock();
  const { send, newKey, engine } = await directScene(t, { now: clock.now, pause: clock.pause });
  await engine.createBucket("photos");
  const key = await newKey({ limits: { bytesPerSecond: 100, requestsPerSecond: 1 } });
  const post = (file: string) => {
    const headers = { host: "s3.test", "content-type": `multipart/form-data; boundary=${boundary}` };
    const body = Buffer.from(encodeForm(signedFields({ key, bucket: "photos" }), file));
    return send({ method: "POST", path: "/photos", headers, body });
  };
  assert.equal((await post("x".repeat(50))).status, 204);
  assert.equal((await post("y")).code, "SlowDown");
  clock.time += 1000;
  assert.equal((await post("x".repeat(300))).status, 204);
  assert.equal(clock.paused, 2000);
});

test("a request waits for the bytes of earlier requests of the key, and a cancelled body stops waiting", async () => {
  const clock = slowClock();
  const pacing = createPacing({ now: clock.now, pause: clock.pause });
  const key = { accessKeyId: "a", limits: { bytesPerSecond: 100 } };
  const first = (await pacing.enter(key))!;
  first.outgoing("x".repeat(300));
  assert.equal(clock.paused, 0, "a body in memory is sent at once");
  const second = (await pacing.enter(key))!;
  assert.equal(clock.paused, 2000);
  let isCancelled = false;
  const body = second.outgoing({
    length: 100_000,
    chunks: () => inChunks(sampleBytes(100_000), 100_000),
    async cancel() {
      isCancelled = true;
    },
  });
  assert.ok(typeof body === "object" && body !== null && !(body instanceof Uint8Array));
  await body.cancel(undefined);
  clock.paused = 0;
  await collect(body.chunks());
  assert.deepEqual([isCancelled, clock.paused], [true, 0]);
});
