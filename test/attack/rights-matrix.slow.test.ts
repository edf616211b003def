// The rights matrix: every operation of the table, with every right, in every situation. Each cell is
// a signed request to the handler; what it must answer follows from the table alone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Grant, type Right, rights } from "../../src/access/grants.ts";
import { createTemporaryCredentials } from "../../src/access/temporary/token.ts";
import { type OperationName, operationNames, operationRights } from "../../src/s3/operation-rights.ts";
import { type DirectAnswer, type DirectScene, directScene } from "../s3/direct.ts";
import { boundary, encodeForm, signedFields } from "../s3/form.ts";
import type { Raw } from "../s3/raw.ts";
import type { Key } from "../s3/scene.ts";
import { requestsFor } from "./operations.ts";

const situations = [
  "own bucket",
  "own bucket with temporary credentials",
  "bucket of another account",
  "inside of the prefix",
  "outside of the prefix",
  "expired token",
  "tampered token",
] as const;
type Situation = (typeof situations)[number];
type Expected = "allowed" | "AccessDenied" | "ExpiredToken" | "InvalidToken";

const copies: ReadonlySet<string> = new Set(["CopyObject", "UploadPartCopy"]);

/** What the table says, written without the code that decides. */
function expected(name: OperationName, right: Right, situation: Situation): Expected {
  if (situation === "expired token") return "ExpiredToken";
  if (situation === "tampered token") return "InvalidToken";
  const { on, right: required, ...rest } = operationRights[name];
  const isPart = situation === "inside of the prefix" || situation === "outside of the prefix";
  if (name === "ListBuckets") return "allowed";
  // The stranger may create buckets of its own account; only the name is taken.
  if (name === "CreateBucket") return right === "admin" && !isPart ? "allowed" : "AccessDenied";
  if (situation === "bucket of another account") return "AccessDenied";
  if (isPart && on === "bucket") return "AccessDenied";
  if (situation === "outside of the prefix" && (on === "object" || on === "listing")) return "AccessDenied";
  // A copy needs the right to read its source too, and each key has one right.
  if (copies.has(name)) return right === "admin" ? "allowed" : "AccessDenied";
  const canAppend = "canAppend" in rest && right === "append";
  return right === required || right === "admin" || canAppend ? "allowed" : "AccessDenied";
}

interface Cell {
  readonly name: OperationName;
  readonly right: Right;
  readonly situation: Situation;
  readonly bucket: string;
}

test("every operation obeys every right in every situation", async (t) => {
  const scene = await directScene(t, { failureLimits: { burst: 1e9 } });
  const stranger = await scene.newKey({ account: "stranger" });
  let cells = 0;
  const counts = new Map<Expected, number>();
  for (const [index, name] of operationNames.entries()) {
    for (const right of rights) {
      const bucket = `matrix-${index}-${right}`;
      for (const situation of situations) {
        await prepareBucket(scene, bucket);
        const cell = { name, right, situation, bucket };
        const key = await makeKey(scene, stranger, cell);
        const answer = await send(scene, cell, key, cells % 2 === 0 ? "header" : "query");
        check(cell, answer);
        const outcome = expected(name, right, situation);
        counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
        cells++;
      }
    }
  }
  assert.equal(cells, operationNames.length * rights.length * situations.length);
  assert.ok(cells >= 2000, `${cells} cells`);
  t.diagnostic(`${cells} cells: ${JSON.stringify(Object.fromEntries(counts))}`);
});

/** Puts back what the operation before may have deleted. */
async function prepareBucket({ engine, ask }: DirectScene, bucket: string): Promise<void> {
  if ((await engine.bucket(bucket)) === undefined) await ask({ method: "PUT", path: `/${bucket}` });
  for (const key of ["in/there", "in/source", "out/there"])
    await ask({ method: "PUT", path: `/${bucket}/${key}`, body: Buffer.from(key) });
}

async function makeKey(scene: DirectScene, stranger: Key, { right, situation, bucket }: Cell): Promise<Key> {
  const whole: Grant = { bucket, rights: [right] };
  const part: Grant = { bucket, prefix: "in/", rights: [right] };
  switch (situation) {
    case "own bucket":
      return scene.newKey({ grants: [whole] });
    case "own bucket with temporary credentials":
      return temporary(scene.key, [whole]);
    case "bucket of another account":
      return temporary(stranger, [whole, { bucket: "*", rights: [right] }]);
    case "inside of the prefix":
    case "outside of the prefix":
      return temporary(scene.key, [part]);
    case "expired token":
      return temporary(scene.key, [whole], Date.now() - 3600_000);
    case "tampered token": {
      const key = temporary(scene.key, [part]);
      const [version, issuer, , mac] = key.sessionToken!.split(".");
      const content = temporary(scene.key, [whole]).sessionToken!.split(".")[2];
      return { ...key, sessionToken: [version, issuer, content, mac].join(".") };
    }
  }
}

function temporary({ accessKeyId, secretAccessKey }: Key, grants: readonly Grant[], now = Date.now()): Key {
  const issuer = { id: accessKeyId, secret: secretAccessKey };
  return createTemporaryCredentials(issuer, { grants, lifetimeSeconds: 900, now });
}

/** Requests with placeholders: searching the request of an operation takes long. */
const templates = requestsFor({
  ...{ bucket: "BUCKET", key: "OBJECT", uploadId: "UPLOAD", copySource: "/BUCKET/in/source" },
});

function fillTemplate(
  raw: Raw,
  {
    bucket,
    object,
    uploadId,
  }: { readonly bucket: string; readonly object: string; readonly uploadId: string },
) {
  const fill = (text: string) =>
    text.replace("BUCKET", bucket).replace("OBJECT", object).replace("UPLOAD", uploadId);
  const headers = Object.entries(raw.headers ?? {}).map(([name, value]) => [name, fill(value)] as const);
  return {
    ...raw,
    path: fill(raw.path),
    query: (raw.query ?? []).map(([name, value]) => [name, fill(value)] as const),
    headers: Object.fromEntries(headers),
  };
}

let fresh = 0;

async function send(
  scene: DirectScene,
  cell: Cell,
  key: Key,
  form: "header" | "query",
): Promise<DirectAnswer> {
  const { name, right, situation, bucket } = cell;
  const { on } = operationRights[name];
  const folder = situation === "outside of the prefix" ? "out/" : "in/";
  // The right to append is for new objects; other rights are tried on one that exists.
  const object = right === "append" && on === "object" ? `${folder}new-${fresh++}` : `${folder}there`;
  if (name === "PostObject") return sendForm(scene, bucket, object, key);
  const needsUpload = /Upload|Parts/.test(name) && on === "object" && name !== "CreateMultipartUpload";
  // A key that may only append can use only uploads that it created.
  const opener = right === "append" && expected(name, right, situation) === "allowed" ? key : scene.key;
  const uploadId = needsUpload ? await openUpload(scene, opener, bucket, object) : "none";
  const raw = fillTemplate(templates[name], { bucket, object, uploadId });
  const query = on === "listing" ? [...raw.query, ["prefix", folder] as const] : raw.query;
  const body =
    name === "DeleteObjects"
      ? Buffer.from(`<Delete><Object><Key>${object}</Key></Object></Delete>`)
      : raw.body;
  return scene.ask({ ...raw, query, ...(body === undefined ? {} : { body }) }, { key, form });
}

async function openUpload({ ask }: DirectScene, opener: Key, bucket: string, key: string): Promise<string> {
  const raw = { method: "POST", path: `/${bucket}/${key}`, query: [["uploads", ""]] as const };
  const { text } = await ask(raw, { key: opener });
  return /<UploadId>(\w+)</.exec(text)![1]!;
}

function sendForm({ send }: DirectScene, bucket: string, object: string, key: Key): Promise<DirectAnswer> {
  const conditions = [["starts-with", "$key", ""], { "x-amz-meta-tag": "one" }];
  const fields = signedFields({ key, bucket, conditions }).map((field) =>
    field[0] === "key" ? (["key", object] as const) : field,
  );
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
  return send({ method: "POST", path: `/${bucket}`, headers, body: Buffer.from(encodeForm(fields)) });
}

const refusalStatus = { AccessDenied: 403, ExpiredToken: 400, InvalidToken: 400 } as const;
const refusals: readonly string[] = Object.keys(refusalStatus);

function check({ name, right, situation, bucket }: Cell, answer: DirectAnswer): void {
  const outcome = expected(name, right, situation);
  const what = `${name} with ${right}, ${situation}: expected ${outcome}, got ${answer.status} ${answer.text}`;
  if (outcome !== "allowed") {
    assert.equal(answer.status, refusalStatus[outcome], what);
    if (answer.code !== undefined) assert.equal(answer.code, outcome, what);
    return;
  }
  assert.ok(answer.status < 500 || answer.status === 501, what);
  if (answer.status >= 300) assert.ok(answer.status !== 403 && !refusals.includes(answer.code ?? ""), what);
  // These answer 200, and refuse each object or bucket by itself.
  if (name === "DeleteObjects")
    assert.equal(answer.text.includes("AccessDenied"), situation === "outside of the prefix", what);
  if (name === "ListBuckets")
    assert.equal(answer.text.includes(`<Name>${bucket}<`), situation !== "bucket of another account", what);
}
