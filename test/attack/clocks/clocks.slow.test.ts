// Clocks as attackers use them: signatures at the edges of their time, days that no month has, and a
// server whose clock is set forward and back by hours, years and decades while it runs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseGrant } from "../../../src/access/grants.ts";
import { createTemporaryCredentials } from "../../../src/access/temporary/token.ts";
import { directScene } from "../../s3/direct.ts";
import { signRaw } from "../../s3/raw.ts";

const second = 1000;
const day = 24 * 3600 * second;
/** After the real time, at which the engine creates the bucket: credentials are bound to it. */
const start = Math.ceil(Date.now() / day) * day;
const read = { method: "GET", path: "/photos/a" };
const url = "http://s3.test";

async function clockScene(t: Parameters<typeof directScene>[0]) {
  const clock = { time: start };
  const scene = await directScene(t, { now: () => clock.time });
  const { ask, key } = scene;
  assert.equal((await ask({ method: "PUT", path: "/photos" }, { time: start })).status, 200);
  const body = Buffer.from("bytes");
  assert.equal((await ask({ method: "PUT", path: "/photos/a", body }, { time: start })).status, 200);
  const presigned = (time: number, expires: number) =>
    ask(read, { key, form: "query", time, expires }).then(({ status }) => status);
  const signed = (time: number) => ask(read, { key, form: "header", time }).then(({ status }) => status);
  return { ...scene, clock, presigned, signed };
}

test("a presigned URL is valid from its date to its expiry, and for at most a week", async (t) => {
  const { clock, presigned } = await clockScene(t);
  for (const expires of [0, -1, 604_801, 1e308, 2 ** 53]) assert.equal(await presigned(start, expires), 403);
  for (const expires of [1, 604_800]) {
    clock.time = start + expires * second;
    assert.equal(await presigned(start, expires), 200, "the last moment");
    clock.time += 1;
    assert.equal(await presigned(start, expires), 403, "a moment later");
  }
  clock.time = start - 15 * 60 * second;
  assert.equal(await presigned(start, 60), 200, "the largest skew");
  clock.time -= 1;
  assert.equal(await presigned(start, 60), 403, "a larger skew");
});

test("a signature with a day that no month has is refused", async (t) => {
  const { clock, send, key } = await clockScene(t);
  for (const text of ["20261131T000000Z", "20270229T120000Z", "20260230T235959Z", "20261301T000000Z"]) {
    // The day to which a lenient parser would move it, so that only the date itself can refuse it.
    clock.time = Date.parse(text.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-01T$4:$5:$6Z")) + 30 * day;
    if (Number.isNaN(clock.time)) clock.time = start;
    for (const form of ["header", "query"] as const) {
      const signed = signRaw(url, read, { key, form, timeText: text, expires: 604_800 });
      const { status, code } = await send(signed);
      assert.ok(status === 400 || status === 403, `${text} ${form}: ${status}`);
      assert.notEqual(code, "SignatureDoesNotMatch", `${text} ${form}`);
    }
  }
});

test("a server whose clock jumps refuses signatures of the real time, and recovers when it is set right", async (t) => {
  const { clock, presigned, signed, ask, key } = await clockScene(t);
  const wrong = { ...key, secretAccessKey: "wrong" };
  const jumps = [-16 * 60 * second, 16 * 60 * second, -day, 8 * day, -10 * 365 * day, -start, 80 * 365 * day];
  for (const jump of jumps) {
    clock.time = start + jump;
    const what = new Date(clock.time).toISOString();
    assert.equal(await signed(start), 403, what);
    if (Math.abs(jump) > 7 * day || jump < 0) assert.equal(await presigned(start, 604_800), 403, what);
    for (let i = 0; i < 30; i++) await ask(read, { key: wrong, time: clock.time });
    clock.time = start;
    await signed(start);
    // The limit of wrong signatures takes four seconds at most, whatever time they were sent at.
    clock.time += 4 * second;
    assert.equal(await signed(clock.time), 200, `after ${what}`);
    clock.time = start;
  }
});

test("temporary credentials end to the second, also on a clock that jumps", async (t) => {
  const { clock, ask, key } = await clockScene(t);
  const parent = { id: key.accessKeyId, secret: key.secretAccessKey };
  const grants = [parseGrant("photos:read")];
  const temporary = createTemporaryCredentials(parent, { grants, lifetimeSeconds: 900, now: start });
  const use = async (time: number) => {
    clock.time = time;
    return (await ask(read, { key: temporary, time })).status;
  };
  assert.equal(await use(start), 200);
  assert.equal(await use(start + 899 * second), 200);
  for (const later of [900 * second, day, 80 * 365 * day])
    assert.equal(await use(start + later), 400, String(later));
  for (const earlier of [day, 10 * 365 * day])
    assert.notEqual(await use(start - earlier), 200, String(earlier));
});
