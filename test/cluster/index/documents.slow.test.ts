// Documents in PostgreSQL: listings below a prefix, and deletions of one revision.
import assert from "node:assert/strict";
import { test } from "node:test";
import { useCluster } from "../scene.ts";

const cluster = useCluster();

test("a listing of documents below a prefix has only their names, in order of their bytes", async (t) => {
  const { documents } = (await (await cluster.scene(t)).open()).records;
  for (const name of ["a", "a/", "a/b", "a/\u{1f511}", "a/\uffff", "a0", "é/a"])
    await documents.put("folder", name, "text", undefined);
  const below = async (prefix: string) => (await documents.list("folder", prefix)).map(({ name }) => name);
  assert.deepEqual(await below("a/"), ["a/", "a/b", "a/\uffff", "a/\u{1f511}"]);
  assert.deepEqual(await below("é"), ["é/a"]);
  assert.equal((await below("")).length, 7);
});

test("of a deletion of one revision and a put on it at once, exactly one is committed", async (t) => {
  const scene = await cluster.scene(t);
  const [one, two] = [(await scene.open()).records.documents, (await scene.open()).records.documents];
  for (let round = 0; round < 20; round++) {
    await one.put("race", "a", "first", undefined);
    const { revision } = (await one.get("race", "a"))!;
    const [isDeleted, outcome] = await Promise.all([
      one.delete("race", "a", revision),
      two.put("race", "a", "second", revision),
    ]);
    assert.equal(isDeleted, outcome === "conflict");
    assert.equal((await one.get("race", "a"))?.text, isDeleted ? undefined : "second");
    assert.equal(await two.delete("race", "a", revision), false);
    await one.delete("race", "a");
  }
});
