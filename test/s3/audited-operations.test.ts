// Audit entries of the S3 API: denied requests are combined and contain no secret, locks are named.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import type { AuditEntry } from "../../src/audit/audit-log.ts";
import { type DirectScene, directScene } from "./direct.ts";

type Recorded = Omit<AuditEntry, "time">;

async function scene(t: Parameters<typeof directScene>[0]): Promise<DirectScene & { recorded: Recorded[] }> {
  const recorded: Recorded[] = [];
  const recordAudit = async (entry: Recorded) => void recorded.push(entry);
  return { ...(await directScene(t, { recordAudit })), recorded };
}

test("denied requests are recorded once with key, reason, bucket and address, however often they are repeated", async (t) => {
  const { engine, newKey, ask, recorded } = await scene(t);
  await engine.createBucket("photos");
  const guest = await newKey({ grants: [{ bucket: "other", rights: ["read"] }] });
  for (let i = 0; i < 50; i++) {
    const { code } = await ask({ method: "GET", path: "/photos/cat", address: "10.0.0.7" }, { key: guest });
    assert.equal(code, "AccessDenied");
  }
  assert.equal(recorded.length, 1);
  const [{ act, subject, detail, count, by }] = recorded as [Recorded];
  assert.deepEqual(
    [act, subject, detail, count, by.face, by.name, by.remoteAddress],
    ["deny request", "photos", "GetObject AccessDenied", 1, "s3", guest.accessKeyId, "10.0.0.7"],
  );
  assert.match(by.request!, /^[0-9A-F]{16}$/);
});

test("wrong signatures and unknown keys are recorded, but never a secret that was sent as the id", async (t) => {
  const { engine, key, ask, send, recorded } = await scene(t);
  await engine.createBucket("photos");
  const get = { method: "GET", path: "/photos/cat" };
  await ask(get, { key: { ...key, secretAccessKey: "wrong" } });
  const swapped = { accessKeyId: key.secretAccessKey, secretAccessKey: key.accessKeyId };
  await ask(get, { key: swapped });
  await send({ ...get, headers: { host: "s3.test" } });
  assert.deepEqual(
    recorded.map(({ act, detail, by }) => [act, detail, by.name]),
    [
      ["deny request", "GetObject SignatureDoesNotMatch", key.accessKeyId],
      ["deny request", "GetObject InvalidAccessKeyId", undefined],
      ["deny request", "GetObject AccessDenied", undefined],
    ],
  );
  assert.ok(!JSON.stringify(recorded).includes(key.secretAccessKey));
});

test("invented access keys share one entry, and a missing object is not a denied request", async (t) => {
  const { engine, key, ask, recorded } = await scene(t);
  await engine.createBucket("photos");
  for (let i = 0; i < 5; i++) {
    const invented = { accessKeyId: `STOREINVENTED${i}`, secretAccessKey: "x" };
    await ask({ method: "GET", path: "/photos/cat" }, { key: invented });
  }
  assert.equal((await ask({ method: "GET", path: "/photos/cat" }, { key })).status, 404);
  assert.deepEqual(
    recorded.map(({ by }) => by.name),
    ["STOREINVENTED0"],
  );
});

test("changes of retention and legal holds are recorded with the object's key", async (t) => {
  const { engine, ask, recorded } = await scene(t);
  await engine.createBucket("records");
  await engine.changeSettings("records", { versioning: "on", objectLock: {} });
  await engine.put("records", "contract", Buffer.from("text"));
  const until = new Date(Date.now() + 86_400_000).toISOString();
  const documents = {
    "legal-hold": "<LegalHold><Status>ON</Status></LegalHold>",
    retention: `<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>${until}</RetainUntilDate></Retention>`,
  };
  for (const [name, text] of Object.entries(documents)) {
    const headers = { "content-md5": createHash("md5").update(text).digest("base64") };
    const query = [[name, ""]] as const;
    const path = "/records/contract";
    const answer = await ask({ method: "PUT", path, query, headers, body: Buffer.from(text) });
    assert.equal(answer.status, 200, answer.text);
  }
  assert.deepEqual(
    recorded.map(({ act, subject, detail }) => [act, subject, detail]),
    [
      ["change legal hold", "records", "contract"],
      ["change retention", "records", "contract"],
    ],
  );
});
