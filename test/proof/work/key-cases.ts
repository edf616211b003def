// The most expensive requests of keys that have one right on one bucket.
import { createHash } from "node:crypto";
import type { Raw } from "../../s3/raw.ts";
import type { WorkCase, WorkStage } from "./stage.ts";

/** The most keys in one request. */
const most = 1000;
const many = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i));

/** A request with a document, and the checksum that some operations require. */
function withDocument(method: string, path: string, query: Raw["query"], text: string): Raw {
  const body = Buffer.from(text);
  const headers = { "content-md5": createHash("md5").update(body).digest("base64") };
  return { method, path, headers, body, ...(query === undefined ? {} : { query }) };
}

export function deletion(bucket: string, object: (index: number) => string): Raw {
  const objects = many(most, (i) => `<Object>${object(i)}</Object>`).join("");
  return withDocument(
    "POST",
    `/${bucket}`,
    [["delete", ""]],
    `<Delete><Quiet>true</Quiet>${objects}</Delete>`,
  );
}

/** One key with many versions, made once for all cases on them. */
async function createVersions({ call, fill, stored }: WorkStage): Promise<void> {
  await call({ method: "PUT", path: "/versions" });
  const enabled = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";
  await call({ method: "PUT", path: "/versions", query: [["versioning", ""]], body: Buffer.from(enabled) });
  await fill(stored, (i) => ({ method: "PUT", path: "/versions/key", body: Buffer.from(`version ${i}`) }));
}

const versions: readonly WorkCase[] = [
  {
    name: "deleted null versions of one key, with its versions",
    async prepare(stage) {
      await createVersions(stage);
      const sign = await stage.keyWith("versions:delete");
      return sign(deletion("versions", () => "<Key>key</Key><VersionId>null</VersionId>"));
    },
  },
  {
    name: "deleted versions that do not exist, each of another id",
    async prepare({ keyWith }) {
      const sign = await keyWith("versions:delete");
      const id = (i: number) => i.toString(16).padStart(32, "0");
      return sign(deletion("versions", (i) => `<Key>key</Key><VersionId>${id(i)}</VersionId>`));
    },
  },
  {
    name: "the null version of a key, with its versions",
    async prepare({ keyWith }) {
      const sign = await keyWith("versions:read");
      return sign({ method: "GET", path: "/versions/key", query: [["versionId", "null"]] });
    },
  },
  {
    name: "a key before its first version, with its versions",
    async prepare({ keyWith }) {
      const sign = await keyWith("versions:read");
      const headers = { "x-store-as-of": "2020-01-01T00:00:00.000Z" };
      return sign({ method: "GET", path: "/versions/key", headers });
    },
  },
  {
    name: "a listing of versions that begins at one folder",
    async prepare({ keyWith }) {
      const sign = await keyWith("versions:list");
      const query = [
        ["versions", ""],
        ["delimiter", "y"],
        ["max-keys", "1"],
      ] as const;
      return sign({ method: "GET", path: "/versions", query });
    },
  },
];

const listings: readonly WorkCase[] = [
  {
    name: "a listing of folders",
    async prepare({ call, fill, keyWith, stored }) {
      await call({ method: "PUT", path: "/folders" });
      await fill(stored, (i) => ({
        method: "PUT",
        path: `/folders/${i % 2000}/${i}`,
        body: Buffer.from("x"),
      }));
      const sign = await keyWith("folders:list");
      return sign({
        method: "GET",
        path: "/folders",
        query: [
          ["list-type", "2"],
          ["delimiter", "/"],
        ],
      });
    },
  },
  {
    name: "a list of buckets, with those of the store",
    async prepare({ fill, keyWith, stored }) {
      await fill(Math.min(stored, 1000), (i) => ({ method: "PUT", path: `/listed-${i}` }));
      const sign = await keyWith("folders:list");
      return sign({ method: "GET", path: "/" });
    },
  },
  {
    name: "a listing with metadata before the first write",
    async prepare({ keyWith }) {
      const sign = await keyWith("folders:list");
      const headers = { "x-store-as-of": "2020-01-01T00:00:00.000Z" };
      return sign({ method: "GET", path: "/folders", query: [["list-type", "2"]], headers });
    },
  },
];

const policies: WorkCase = {
  name: "deleted keys, with the resources of a bucket policy",
  async prepare({ call, keyWith }) {
    const resources = many(250, (i) => `arn:aws:s3:::policies/*a*a*a*a*${i}`);
    const statement = { Effect: "Deny", Principal: "*", Action: "s3:DeleteObject", Resource: resources };
    const text = JSON.stringify({ Version: "2012-10-17", Statement: [statement] });
    await call({ method: "PUT", path: "/policies" });
    await call({ method: "PUT", path: "/policies", query: [["policy", ""]], body: Buffer.from(text) });
    const sign = await keyWith("policies:delete");
    return sign(deletion("policies", (i) => `<Key>${"a".repeat(900)}${i}</Key>`));
  },
};

/** Starts an upload; returns its id. */
async function startUpload({ call }: WorkStage, path: string): Promise<string> {
  const { text } = await call({ method: "POST", path, query: [["uploads", ""]] });
  return /<UploadId>(.*?)<\/UploadId>/.exec(text)![1]!;
}

/** Makes an upload with many parts, which the console's cases list too. */
const uploads: readonly WorkCase[] = [
  {
    name: "a list of parts of an upload",
    async prepare(stage) {
      await stage.call({ method: "PUT", path: "/uploads" });
      const id = await startUpload(stage, "/uploads/key");
      await stage.fill(stage.stored, (i) => ({
        ...{ method: "PUT", path: "/uploads/key", body: Buffer.from("part") },
        query: [
          ["partNumber", String(i + 1)],
          ["uploadId", id],
        ],
      }));
      const sign = await stage.keyWith("uploads:list,read,write");
      return sign({ method: "GET", path: "/uploads/key", query: [["uploadId", id]] });
    },
  },
  {
    name: "named parts of an upload, with those that it has",
    async prepare(stage) {
      const id = await startUpload(stage, "/uploads/other");
      const part = (i: number) =>
        `<Part><PartNumber>${i + 1}</PartNumber><ETag>"${"a".repeat(32)}"</ETag></Part>`;
      const text = `<CompleteMultipartUpload>${many(10_000, part).join("")}</CompleteMultipartUpload>`;
      const sign = await stage.keyWith("uploads:write");
      return sign(withDocument("POST", "/uploads/other", [["uploadId", id]], text));
    },
  },
];

const documents: readonly WorkCase[] = [
  {
    name: "elements of a document of tags",
    async prepare({ keyWith }) {
      const sign = await keyWith("folders:write");
      const text = `<Tagging><TagSet>${"<Tag/>".repeat(10_000)}</TagSet></Tagging>`;
      return sign(withDocument("PUT", "/folders/0/0", [["tagging", ""]], text));
    },
  },
  {
    name: "rules of a lifecycle with each other",
    async prepare({ keyWith }) {
      const rule = (i: number) =>
        `<Rule><ID>${i}</ID><Filter><Prefix>a</Prefix></Filter><Status>Enabled</Status><Expiration><Days>9</Days></Expiration></Rule>`;
      const text = `<LifecycleConfiguration>${many(most, rule).join("")}</LifecycleConfiguration>`;
      const sign = await keyWith("folders:admin");
      return sign(withDocument("PUT", "/folders", [["lifecycle", ""]], text));
    },
  },
];

export const keyCases: readonly WorkCase[] = [...versions, ...listings, policies, ...uploads, ...documents];
