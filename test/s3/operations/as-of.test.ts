// The header x-store-as-of: reads and listings of a versioned bucket as of an instant.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import type { OperationName } from "../../../src/s3/operation-rights.ts";
import { requestsFor } from "../../attack/operations.ts";
import { boundary, encodeForm } from "../form.ts";
import { assertRefused, bucket, texts, versionedScene } from "../versioned.ts";

const asOf = "x-store-as-of";

async function instant(): Promise<string> {
  await wait(5);
  const now = new Date().toISOString();
  await wait(5);
  return now;
}

test("x-store-as-of reads and lists the objects that were current at that time", async (t) => {
  const { request, put } = await versionedScene(t);
  const empty = await instant();
  const first = await put("a", "one");
  await put("b", "gone");
  const early = await instant();
  await put("a", "two");
  await request("DELETE", "b");
  await put("c", "new");
  const late = await instant();
  const at = (method: string, path: string, time: string, query = "") =>
    request(method, path, { query, headers: { [asOf]: time } });
  const read = await at("GET", "a", early);
  assert.deepEqual([read.status, read.text, read.headers["x-amz-version-id"]], [200, "one", first]);
  assert.equal((await at("GET", "a", late)).text, "two");
  assert.equal((await at("HEAD", "b", early)).headers["content-length"], "4");
  assertRefused(await at("GET", "a", empty), [404, "NoSuchKey"]);
  assertRefused(await at("GET", "b", late), [404, "NoSuchKey"]);
  for (const query of ["", "list-type=2"]) {
    const keys = async (time: string) => texts((await at("GET", "", time, query)).text, "Key");
    assert.deepEqual(await keys(empty), []);
    assert.deepEqual(await keys(early), ["a", "b"]);
    assert.deepEqual(await keys(late), ["a", "c"]);
  }
  assert.equal((await at("GET", "a", new Date(Date.now() + 5000).toUTCString())).text, "two");
});

test("x-store-as-of is refused if it is not a time, in an unversioned bucket and with a version id", async (t) => {
  const { request, put } = await versionedScene(t);
  const version = await put("a", "one");
  for (const time of ["yesterday", "2026-13-01", "1700000000", ""]) {
    for (const path of ["a", ""])
      assertRefused(await request("GET", path, { headers: { [asOf]: time } }), [400, "InvalidArgument"]);
  }
  const headers = { [asOf]: "2026-11-01T00:00:00Z" };
  const both = await request("GET", "a", { query: `versionId=${version}`, headers });
  assertRefused(both, [400, "InvalidRequest"]);
  const plain = await versionedScene(t, "plain");
  await plain.put("a", "one");
  for (const path of ["a", ""])
    assertRefused(await plain.request("GET", path, { headers }), [400, "InvalidRequest"]);
});

const reading: readonly OperationName[] = ["GetObject", "HeadObject", "ListObjects", "ListObjectsV2"];

test("x-store-as-of is refused by every operation that does not read the past, before it is authorized", async (t) => {
  const { ask, send, request, put, newKey } = await versionedScene(t);
  const powerless = await newKey({ grants: [] });
  await put("a", "one");
  const copySource = `/${bucket}/a`;
  const [uploadId = ""] = texts((await request("POST", "a", { query: "uploads" })).text, "UploadId");
  const headers = { [asOf]: await instant() };
  const requests = requestsFor({ bucket, key: "a", uploadId, copySource });
  const before = (await request("GET", "", { query: "versions" })).text;
  for (const [name, raw] of Object.entries(requests)) {
    const sent = { ...raw, headers: { ...raw.headers, ...headers } };
    const isReading = reading.includes(name as OperationName);
    for (const key of [undefined, powerless]) {
      const answer = await ask(sent, key === undefined ? {} : { key });
      if (isReading && key === undefined) assert.equal(answer.status, 200, name);
      else if (isReading) assert.equal(answer.status, 403, name);
      else
        assert.deepEqual(
          [answer.status, answer.code ?? raw.method],
          [400, answer.code === undefined ? "HEAD" : "InvalidArgument"],
          name,
        );
    }
  }
  const type = { "content-type": `multipart/form-data; boundary=${boundary}` };
  const form = Buffer.from(encodeForm([["key", "form"]]));
  const posted = await send({
    method: "POST",
    path: `/${bucket}`,
    headers: { ...type, ...headers },
    body: form,
  });
  assertRefused(posted, [400, "InvalidArgument"]);
  assert.equal((await request("GET", "", { query: "versions" })).text, before);
});

/** What was denied by name, with the actions that a request of the past would have needed instead. */
const denied = {
  "s3:DeleteObject": { method: "DELETE" },
  "s3:PutObjectTagging": {
    method: "PUT",
    query: "tagging",
    body: "<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>",
  },
} as const;

test("x-store-as-of changes no action that a policy denies, nor that of a copy's source", async (t) => {
  const { engine, request, put, newKey } = await versionedScene(t);
  await put("a", "one");
  const other = await newKey({ account: "other" });
  const policy = (Effect: string, Action: string) => ({
    ...{ Effect, Action, Principal: "*" },
    Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`],
  });
  const headers = { [asOf]: "2999-01-01T00:00:00Z" };
  for (const [action, { method, ...sent }] of Object.entries(denied)) {
    const Statement = [policy("Allow", "s3:*"), policy("Deny", action)];
    await engine.changeSettings(bucket, { policy: JSON.stringify({ Statement }) });
    assertRefused(await request(method, "a", { ...sent, key: other }), [403, "AccessDenied"]);
    assertRefused(await request(method, "a", { ...sent, headers, key: other }), [400, "InvalidArgument"]);
  }
  const Statement = [policy("Allow", "s3:*"), policy("Deny", "s3:GetObject")];
  await engine.changeSettings(bucket, { policy: JSON.stringify({ Statement }) });
  const copy = { "x-amz-copy-source": `/${bucket}/a` };
  assertRefused(await request("PUT", "b", { headers: copy, key: other }), [403, "AccessDenied"]);
  const past = await request("PUT", "b", { headers: { ...copy, ...headers }, key: other });
  assertRefused(past, [400, "InvalidArgument"]);
  // Reading the past needs the action of versions, which this policy allows.
  assert.equal((await request("GET", "a", { headers, key: other })).text, "one");
  assertRefused(await request("GET", "a", { key: other }), [403, "AccessDenied"]);
});
