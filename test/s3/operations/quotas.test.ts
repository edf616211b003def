// Quotas in the S3 API: puts, copies and completed uploads beyond a quota get 403 QuotaExceeded.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { inChunks, sampleBytes } from "../../support/bytes.ts";
import { type DirectAnswer, directScene } from "../direct.ts";

const outcome = ({ status, code }: DirectAnswer) => [status, code];
const refused = [403, "QuotaExceeded"];
const accepted = [200, undefined];

test("a put beyond the bucket's quota gets 403 QuotaExceeded and a message that says what to do", async (t) => {
  const { ask, engine } = await directScene(t);
  await engine.createBucket("bucket");
  await engine.changeSettings("bucket", { quota: { bytes: 100_000, objects: 2 } });
  const put = (key: string, size: number) =>
    ask({ method: "PUT", path: `/bucket/${key}`, body: sampleBytes(size) });
  assert.deepEqual(outcome(await put("a", 60_000)), accepted);
  const answer = await put("b", 60_000);
  assert.deepEqual(outcome(answer), refused);
  assert.match(answer.text, /delete objects and old versions or raise the quota/);
  const copy = { method: "PUT", path: "/bucket/b", headers: { "x-amz-copy-source": "/bucket/a" } };
  assert.deepEqual(outcome(await ask(copy)), refused);
  assert.deepEqual(outcome(await put("b", 10)), accepted);
  assert.deepEqual(outcome(await put("c", 10)), refused);
  assert.equal((await ask({ method: "DELETE", path: "/bucket/a" })).status, 204);
  assert.deepEqual(outcome(await put("c", 10)), accepted);
});

test("a body whose declared length does not fit is refused before it is read", async (t) => {
  const { ask, engine } = await directScene(t);
  await engine.createBucket("bucket");
  await engine.changeSettings("bucket", { quota: { bytes: 100_000 } });
  let isRead = false;
  async function* stream() {
    isRead = true;
    yield* inChunks(sampleBytes(200_000), 10_000);
  }
  const headers = { "content-length": "200000" };
  const put = { method: "PUT", path: "/bucket/key", headers, stream };
  assert.deepEqual(outcome(await ask(put, { payload: "UNSIGNED-PAYLOAD" })), refused);
  assert.equal(isRead, false);
});

test("the quota of an account covers the buckets that its keys create", async (t) => {
  const { ask, newKey, engine } = await directScene(t);
  const key = await newKey({ account: "team" });
  for (const bucket of ["one", "two"])
    assert.deepEqual(outcome(await ask({ method: "PUT", path: `/${bucket}` }, { key })), accepted);
  await engine.quotas.setAccountQuota("team", { bytes: 10 });
  const put = (path: string) => ask({ method: "PUT", path, body: sampleBytes(6) }, { key });
  assert.deepEqual(outcome(await put("/one/a")), accepted);
  const answer = await put("/two/a");
  assert.deepEqual(outcome(answer), refused);
  assert.match(answer.text, /The quota of the account "team" is used up/);
});

test("DeleteObjects at the quota reports the keys that get no delete marker, and hides the others", async (t) => {
  const { ask, engine } = await directScene(t);
  await engine.createBucket("bucket");
  await engine.changeSettings("bucket", { versioning: "on", quota: { objects: 2 } });
  for (const key of ["a", "b"]) await engine.put("bucket", key, sampleBytes(1));
  const keys = ["a", "missing", "b"].map((key) => `<Object><Key>${key}</Key></Object>`).join("");
  const body = Buffer.from(`<Delete>${keys}</Delete>`);
  const answer = await ask({
    ...{ method: "POST", path: "/bucket", query: [["delete", ""]], body },
    headers: { "content-md5": createHash("md5").update(body).digest("base64") },
  });
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.text, /<Error><Key>missing<\/Key><Code>QuotaExceeded<\/Code>/);
  assert.deepEqual(await engine.quotas.bucketUsage("bucket"), { bytes: 2, objects: 4 });
  assert.equal((await engine.list("bucket")).objects.length, 0);
});
