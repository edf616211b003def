// The console's list of open uploads: each row counts the parts of an upload, so a page is bounded by
// parts as well as by uploads.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PartsDocument, UploadsDocument } from "../../../src/console/wire-types.ts";
import { type ApiScene, apiScene } from "./scene.ts";

const bucket = "bucket";
/** As many parts as an upload can have, and as a page of the list counts. */
const mostParts = 10_000;
const piece = Buffer.from("part");

async function startUpload({ engine }: ApiScene, key: string, parts: number): Promise<string> {
  const { id } = await engine.createUpload(bucket, key);
  for (let number = 1; number <= parts; number++) {
    await engine.uploadPart(bucket, { key, id }, number, piece);
  }
  return id;
}

const list = ({ get }: ApiScene, cursor?: string) =>
  get<UploadsDocument>("GET /api/uploads", { query: cursor === undefined ? { bucket } : { bucket, cursor } });

test("a page of open uploads ends after the upload whose parts exceed the limit of the page", async (t) => {
  const scene = await apiScene(t);
  await startUpload(scene, "a", 2);
  const id = await startUpload(scene, "b", mostParts);
  await startUpload(scene, "c", 1);
  const rows = ({ uploads }: UploadsDocument) => uploads.map(({ key, parts, bytes }) => [key, parts, bytes]);
  const first = await list(scene);
  assert.deepEqual(rows(first), [
    ["a", 2, 8],
    ["b", mostParts, 4 * mostParts],
  ]);
  const second = await list(scene, first.cursor);
  assert.deepEqual(rows(second), [["c", 1, 4]]);
  assert.equal(second.cursor, undefined);
  const query = { bucket, key: "b", upload: id };
  const { parts } = await scene.get<PartsDocument>("GET /api/uploads/parts", { query });
  assert.deepEqual(
    parts.map(({ number }) => number),
    Array.from({ length: mostParts }, (_, i) => i + 1),
  );
});

test("an upload that ends while the list is made is left out of it", async (t) => {
  const scene = await apiScene(t);
  const id = await startUpload(scene, "a", 1);
  await startUpload(scene, "b", 1);
  await scene.engine.abortUpload(bucket, { key: "a", id });
  assert.deepEqual(
    (await list(scene)).uploads.map(({ key }) => key),
    ["b"],
  );
});
