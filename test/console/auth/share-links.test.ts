// The index of share links by bucket, and their bounds.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createShareLinks, maxBucketLinks, maxShareLinks } from "../../../src/console/auth/share-links.ts";
import { hashSecret } from "../../../src/console/auth/tokens.ts";
import type { Documents } from "../../../src/engine/records.ts";
import { createMemoryDocuments } from "../../../src/memory/documents.ts";

const photos = { name: "photos", created: 1 };
const music = { name: "music", created: 2 };
const hour = 3_600_000;

function opened() {
  const documents = createMemoryDocuments();
  let time = 1000;
  /** Number of documents that were listed. */
  let listed = 0;
  /** Largest number of links that one call read. */
  let mostLinks = 0;
  const counted: Documents = {
    ...documents,
    async list(kind, prefix) {
      const found = await documents.list(kind, prefix);
      listed += found.length;
      if (kind === "console share link") mostLinks = Math.max(mostLinks, found.length);
      return found;
    },
  };
  return {
    documents,
    links: createShareLinks(counted, () => time),
    pass: (milliseconds: number) => {
      time += milliseconds;
    },
    mostLinks: () => mostLinks,
    takeListed: () => {
      const taken = listed;
      listed = 0;
      return taken;
    },
    create: (bucket: typeof photos, key: string, expires = time + 10 * hour) => ({
      bucket,
      key,
      expires,
      by: "a",
    }),
  };
}

test("a listing, a creation and a revocation read the links of their bucket only", async () => {
  const { links, create, takeListed } = opened();
  for (let i = 0; i < 300; i++) await links.create(create(music, `${i}`));
  const made = await links.create(create(photos, "a"));
  assert.ok(typeof made !== "string");
  takeListed();
  assert.deepEqual(await links.list(photos), [made.link]);
  await links.create(create(photos, "b"));
  assert.deepEqual(await links.revoke("photos", made.link.id), made.link);
  assert.deepEqual(takeListed(), 3);
});

test("a bucket has a bounded number of links, of which ended ones are deleted", async () => {
  const { documents, links, create, pass } = opened();
  for (let i = 0; i < maxBucketLinks; i++)
    assert.ok(typeof (await links.create(create(photos, `${i}`))) !== "string");
  assert.equal(await links.create(create(photos, "one more")), "full bucket");
  assert.ok(typeof (await links.create(create(music, "a", 1000 + 30 * hour))) !== "string");
  pass(20 * hour);
  assert.ok(typeof (await links.create(create(photos, "later", 1000 + 30 * hour))) !== "string");
  assert.equal((await documents.list("console share link")).length, 2);
  assert.equal((await documents.list("bucket share link")).length, 2);
});

test("a full store has room after links were revoked elsewhere and the clock was set back", async () => {
  const { documents, links, create, pass, mostLinks } = opened();
  const created = 1000;
  for (let i = 0; i < maxShareLinks; i++) {
    const stored = { bucket: `b${i % 100}`, key: "a", bucketCreated: 1, created, expires: hour, by: "a" };
    await documents.put("console share link", hashSecret(String(i)), JSON.stringify(stored), undefined);
  }
  assert.equal(await links.create(create(photos, "a")), "full store");
  assert.ok(mostLinks() < maxShareLinks / 10, "other requests run between parts of the links");
  for (let i = 0; i < 10; i++) await documents.delete("console share link", hashSecret(String(i)));
  pass(-100 * hour);
  assert.ok(typeof (await links.create(create(photos, "a"))) !== "string");
});

test("a link that has expired does not work again on a clock that is set back", async () => {
  const { links, create, pass } = opened();
  const made = await links.create(create(photos, "a"));
  assert.ok(typeof made !== "string");
  pass(-hour / 4);
  assert.deepEqual(await links.find(made.secret), made.link, "a small correction");
  pass(hour / 4 + 10 * hour);
  assert.equal(await links.find(made.secret), undefined);
  pass(-24 * hour);
  assert.equal(await links.find(made.secret), undefined, "set back by a day");
  pass(15 * hour);
  assert.deepEqual(await links.find(made.secret), made.link, "the clock is right again");
});

test("links of an earlier release are indexed at the first listing", async () => {
  const { documents, links } = opened();
  const stored = { bucket: "photos", key: "a", bucketCreated: 1, created: 5, expires: hour, by: "a" };
  await documents.put("console share link", hashSecret("old"), JSON.stringify(stored), undefined);
  await documents.put("bucket share link", `photos/${hashSecret("gone")}`, JSON.stringify(stored), undefined);
  const [link] = await links.list(photos);
  assert.equal(link?.id, hashSecret("old").slice(0, 16));
  assert.equal((await documents.list("bucket share link")).length, 1);
  assert.deepEqual(await links.revoke("photos", link!.id), link);
  assert.deepEqual(await documents.list("console share link"), []);
  assert.deepEqual(await links.list(photos), []);
});
