// Documents that Store has written are checked by shape when they are read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseStoredCredential } from "../../src/access/keys/credential-record.ts";
import { createRoles } from "../../src/access/temporary/roles.ts";
import { parseDocument } from "../../src/model/stored-document.ts";
import { openEngine } from "../../src/open.ts";
import { listPublicBuckets } from "../../src/public/publications.ts";
import { temporaryDirectory } from "../support/stores.ts";

const isNumber = (value: unknown): value is number => typeof value === "number";

test("a document of the expected shape is returned, and another one is reported as damage", () => {
  assert.equal(parseDocument("7", "The count", isNumber), 7);
  for (const text of ["", "{", '"7"', "null"]) {
    assert.throws(() => parseDocument(text, "The count", isNumber), {
      reason: "Damaged",
      message: /The count cannot be read: restore it from a backup/,
    });
  }
});

test("documents in an unknown form are reported, with what they are about", async (t) => {
  const { engine, documents } = await openEngine(await temporaryDirectory(t));
  t.after(() => Promise.all([engine.close()]));
  await documents.put("public bucket", "photos", '{"domains":["a.example"]}', undefined);
  await assert.rejects(listPublicBuckets(documents), {
    reason: "Damaged",
    message: /public bucket "photos"/,
  });
  const positions = [{ bucket: 7 }, { bucket: "photos", after: { kind: "later", value: "" } }];
  for (const position of [...positions, "photos"]) {
    const revision = (await documents.get("encryption", "rotation"))?.revision;
    const text = JSON.stringify({ to: "key", started: 1, rewrapped: 0, position });
    await documents.put("encryption", "rotation", text, revision);
    await assert.rejects(engine.encryption.status(), {
      reason: "Damaged",
      message: /progress of the rotation/,
    });
  }
});

test("access keys, roles and the state of the scrub in an unknown form are not used", async (t) => {
  const { engine, documents } = await openEngine(await temporaryDirectory(t));
  t.after(() => Promise.all([engine.close()]));
  const texts = ["", "7", "{}", '{"account":"main","created":1,"secret":"x","grants":[{"bucket":7}]}'];
  for (const text of texts) {
    const document = { name: "AKIA", text, revision: 1 };
    assert.throws(() => parseStoredCredential(document), {
      reason: "Damaged",
      message: /access key AKIA/,
    });
  }
  const roles = createRoles(documents, () => new Uint8Array(32), Date.now);
  for (const [i, text] of texts.entries()) await documents.put("role", `role-${i}`, text, undefined);
  assert.deepEqual(await roles.list(), []);
  await documents.put("housekeeping", "scrub", '{"begun":1,"found":"none"}', undefined);
  assert.equal((await engine.scrubProgress()).last, undefined);
  assert.equal(await engine.scrub({ onDamage: ({ what }) => assert.fail(what) }), "ended");
});
