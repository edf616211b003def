// Domains of public buckets: each belongs to the bucket that was first, whoever asks at once.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openEngine } from "../../src/open.ts";
import { findDomain, listPublicBuckets, publish } from "../../src/public/publications.ts";
import { createDomainCache } from "../../src/public/server.ts";

async function openScene(t: TestContext) {
  const { engine, documents } = await openEngine("memory:");
  t.after(() => engine.close());
  const store = { engine, documents };
  return {
    store,
    engine,
    documents,
    set: (bucket: string, ...domains: string[]) => publish(store, bucket, { domains }),
    domains: async () => {
      const found: Record<string, string> = {};
      for (const { name } of await documents.list("public domain")) {
        const bucket = await findDomain(documents, name);
        if (bucket !== undefined) found[name] = bucket;
      }
      return found;
    },
    listed: async (bucket: string) => (await engine.bucket(bucket))!.settings.publication?.domains ?? [],
  };
}

test("of many buckets that want one domain at once, exactly one gets it", async (t) => {
  const { engine, set, domains, listed } = await openScene(t);
  const names = Array.from({ length: 20 }, (_, i) => `bucket-${i}`);
  for (const name of names) await engine.createBucket(name);
  const outcomes = await Promise.allSettled(names.map((name) => set(name, "a.example.com")));
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
  const having = [];
  for (const name of names) if ((await listed(name)).length > 0) having.push(name);
  assert.deepEqual(await domains(), { "a.example.com": having[0] });
  assert.equal(having.length, 1);
});

test("a domain is free again once its bucket drops it, is private, or is deleted", async (t) => {
  const { engine, store, set, domains } = await openScene(t);
  for (const name of ["one", "two"]) await engine.createBucket(name);
  const domain = "a.example.com";
  await set("one", domain, "b.example.com");
  await assert.rejects(set("two", domain), /already belongs to bucket "one"/);
  await set("one", "b.example.com");
  await set("two", domain);
  assert.deepEqual(await domains(), { [domain]: "two", "b.example.com": "one" });
  await assert.rejects(set("one", domain), /already belongs to bucket "two"/);
  await publish(store, "two", undefined);
  await set("one", domain);
  await engine.deleteBucket("one");
  await engine.createBucket("one");
  await set("two", domain);
  assert.deepEqual(await domains(), { [domain]: "two" });
});

test("a domain in the settings of a bucket that did not claim it is not served", async (t) => {
  const { engine, documents, set, domains } = await openScene(t);
  for (const name of ["one", "two"]) await engine.createBucket(name);
  await set("one", "a.example.com");
  await set("two");
  await engine.changeSettings("two", { publication: { domains: ["a.example.com"] } });
  await documents.put(
    "public bucket",
    "two",
    '["a.example.com"]',
    (await documents.get("public bucket", "two"))!.revision,
  );
  assert.deepEqual(await domains(), { "a.example.com": "one" });
});

test("a publication that was changed meanwhile is kept, and the index follows the settings", async (t) => {
  const { engine, documents, store, set } = await openScene(t);
  await engine.createBucket("one");
  const { settings } = (await engine.bucket("one"))!;
  await set("one", "a.example.com");
  assert.equal(await publish(store, "one", { index: "a.html" }, settings), "conflict");
  const changes = ["a", "b", "c", undefined, "d"].map((name) =>
    publish(store, "one", name === undefined ? undefined : { domains: [`${name}.example.com`] }),
  );
  await Promise.all(changes);
  const publication = (await engine.bucket("one"))!.settings.publication;
  const expected = publication === undefined ? [] : [{ bucket: "one", domains: publication.domains }];
  assert.deepEqual(await listPublicBuckets(documents), expected);
});

test("claims of domains that no bucket has any more are deleted", async (t) => {
  const { engine, documents, store, set } = await openScene(t);
  await engine.createBucket("one");
  for (let i = 0; i < 5; i++) await set("one", `${i}.example.com`);
  const claimed = async () => (await documents.list("public domain")).map(({ name }) => name);
  assert.deepEqual(await claimed(), ["4.example.com"]);
  await publish(store, "one", undefined);
  assert.deepEqual(await claimed(), []);
});

test("a request to a domain reads two documents, and a repeated one none", async (t) => {
  const { engine, documents, set } = await openScene(t);
  for (const name of ["one", "two"]) await engine.createBucket(name);
  await set("one", "a.example.com", "b.example.com");
  await set("two", ...Array.from({ length: 50 }, (_, i) => `${i}.example.org`));
  let reads = 0;
  const find = createDomainCache({
    ...documents,
    get(kind, name) {
      reads++;
      return documents.get(kind, name);
    },
    list: () => assert.fail("documents were listed"),
  });
  assert.equal(await find("a.example.com"), "one");
  assert.equal(await find("a.example.com"), "one");
  assert.equal(reads, 2);
  for (const name of ["c.example.com", "", "a\0b", "x".repeat(5000), "127.0.0.1"])
    assert.equal(await find(name), undefined);
  assert.equal(reads, 3);
});
