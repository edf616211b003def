// Throttling of wrong signatures by client address and access key id.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFailedSignatures } from "../../../src/s3/auth/failed-signatures.ts";
import { directScene } from "../direct.ts";
import { boundary, encodeForm, signedFields } from "../form.ts";
import { signRaw } from "../raw.ts";

const list = { method: "GET", path: "/" };

test("after 20 wrong signatures a client gets SlowDown, and other clients are not affected", async (t) => {
  let time = Date.now();
  const { ask, key, newKey } = await directScene(t, { now: () => time });
  const wrong = { ...key, secretAccessKey: "wrong" };
  const from = (address: string, by = key) => ask({ ...list, address }, { key: by, time });
  for (let i = 0; i < 19; i++) assert.equal((await from("192.0.2.1", wrong)).code, "SignatureDoesNotMatch");
  assert.equal(
    (await from("192.0.2.1")).status,
    200,
    "a valid signature passes while the bucket is not empty",
  );
  assert.equal((await from("192.0.2.1", wrong)).code, "SignatureDoesNotMatch");
  const refused = await from("192.0.2.1", wrong);
  assert.deepEqual([refused.status, refused.code, refused.headers["retry-after"]], [503, "SlowDown", "1"]);
  assert.equal((await from("192.0.2.1")).code, "SlowDown");
  assert.equal((await from("192.0.2.2")).status, 200, "the same key from another address");
  assert.equal((await from("192.0.2.1", await newKey())).status, 200, "another key from the same address");
  time += 1000;
  assert.equal((await from("192.0.2.1")).status, 200, "a second later the key is accepted again");
});

test("all addresses of an IPv6 network count as one client", async (t) => {
  const time = Date.now();
  const { ask, key } = await directScene(t, { now: () => time });
  const wrong = { ...key, secretAccessKey: "wrong" };
  const codes: (string | undefined)[] = [];
  for (let i = 0; i < 21; i++)
    codes.push((await ask({ ...list, address: `2001:db8:1:2:${i}::` }, { key: wrong, time })).code);
  assert.deepEqual([codes[19], codes[20]], ["SignatureDoesNotMatch", "SlowDown"]);
  assert.equal((await ask({ ...list, address: "2001:db8:1:3::" }, { key, time })).status, 200);
});

test("a throttled request is refused before its key is looked up", async (t) => {
  let lookups = 0;
  const credentials = {
    async find() {
      lookups++;
      return undefined;
    },
  };
  const { ask } = await directScene(t, { credentials, now: () => start });
  const start = Date.now();
  for (let i = 0; i < 30; i++) await ask(list, { time: start });
  assert.equal(lookups, 20);
});

test("wrong signatures of POST forms count toward the throttling limit", async (t) => {
  const { send, engine, key } = await directScene(t, { failureLimits: { burst: 2, perSecond: 0.001 } });
  await engine.createBucket("photos");
  const codes: (string | undefined)[] = [];
  for (let i = 0; i < 3; i++) {
    const fields = signedFields({ key: { ...key, secretAccessKey: "wrong" }, bucket: "photos" });
    const headers = { host: "s3.test", "content-type": `multipart/form-data; boundary=${boundary}` };
    const body = Buffer.from(encodeForm(fields));
    codes.push((await send({ method: "POST", path: "/photos", headers, body })).code);
  }
  assert.deepEqual(codes, ["SignatureDoesNotMatch", "SignatureDoesNotMatch", "SlowDown"]);
});

test("the table of failed signatures is bounded and evicts the least recently used entry first", () => {
  const failures = createFailedSignatures(() => 0, { burst: 1, pairs: 3 });
  const address = (name: string) => () => name;
  for (const name of ["a", "b", "c", "d"]) failures.record(address(name), "key");
  failures.check(address("a"), "key");
  for (const name of ["b", "c", "d"]) {
    assert.throws(() => failures.check(address(name), "key"), { code: "SlowDown" }, name);
  }
});

test("setting the clock back neither ends nor prolongs the throttling of wrong signatures", () => {
  let time = 100_000;
  const failures = createFailedSignatures(() => time, { burst: 1, perSecond: 1 });
  const address = () => "a";
  failures.record(address, "key");
  time = 0;
  assert.throws(() => failures.check(address, "key"), { code: "SlowDown" });
  time = 1000;
  failures.check(address, "key");
});

test("a request with two Authorization headers, or with one and a presigned URL, is refused", async (t) => {
  const { send, key, ask } = await directScene(t);
  const signed = signRaw("http://s3.test", list, { key, form: "header" });
  const { authorization = "" } = signed.headers;
  for (const second of [authorization, "Basic YTpi", ""]) {
    const answer = await send({ ...signed, moreHeaders: ["Authorization", second] });
    assert.deepEqual([answer.status, answer.code], [400, "InvalidArgument"], second);
  }
  const url = signRaw("http://s3.test", list, { key, form: "query" });
  const both = await send({ ...url, moreHeaders: ["authorization", authorization] });
  assert.deepEqual([both.status, both.code], [400, "InvalidArgument"]);
  const twice = await send({ ...url, query: [...url.query, ["X-Amz-Signature", "0".repeat(64)]] });
  assert.deepEqual([twice.status, twice.code], [400, "AuthorizationQueryParametersError"]);
  assert.equal((await send(url)).status, 200);
  assert.equal((await ask(list)).status, 200);
});
