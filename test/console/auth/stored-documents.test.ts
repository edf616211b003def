// Stored users, tokens and links in an unknown form give no access: reading them is reported as damage.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createShareLinks } from "../../../src/console/auth/share-links.ts";
import { createTokens } from "../../../src/console/auth/tokens.ts";
import { createUsers } from "../../../src/console/auth/users.ts";
import { openEngine } from "../../../src/open.ts";
import { temporaryDirectory } from "../../support/stores.ts";

const permissions = [
  null,
  "administrator",
  { role: "owner" },
  { buckets: { photos: "owner" } },
  { buckets: [] },
];

test("users, tokens and share links in an unknown form are reported as damage", async (t) => {
  const { engine, documents } = await openEngine(await temporaryDirectory(t));
  t.after(() => Promise.all([engine.close()]));
  const store = async (kind: string, name: string, value: unknown) => {
    const revision = (await documents.get(kind, name))?.revision;
    assert.equal(await documents.put(kind, name, JSON.stringify(value), revision), "committed");
  };
  for (const given of permissions) {
    await store("console user", "anna", { created: 1, permissions: given });
    await assert.rejects(createUsers(documents, Date.now).find("anna"), { reason: "Damaged" });
    await store("console token", "abcdefghij", { name: "laptop", created: 1, hash: "x", permissions: given });
    await assert.rejects(createTokens(documents, Date.now).list(), { reason: "Damaged" });
  }
  await store("console share link", "a".repeat(64), { bucket: "photos", key: 7, expires: "never" });
  await assert.rejects(createShareLinks(documents, Date.now).list({ name: "photos", created: 1 }), {
    reason: "Damaged",
  });
});
