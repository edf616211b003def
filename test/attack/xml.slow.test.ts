// XML made to burn time: floods of entities, depth, attributes and text, in every operation that reads a document. Each is
// refused for little CPU time, and four at once do not stop the S3 API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Raw, type RawAnswer, sendRaw, signRaw } from "../s3/raw.ts";
import { treeCpuMilliseconds } from "../support/process-tree.ts";
import { openTarget, snapshot, type Target } from "./target.ts";

const MiB = 1024 * 1024;

/** Where a document goes, its root, and the way down to an element with text. */
interface Reader {
  readonly name: string;
  readonly raw: Raw;
  readonly root: string;
  readonly path: readonly string[];
}

const readers = (uploadId: string): readonly Reader[] => [
  {
    name: "DeleteObjects",
    raw: { method: "POST", path: "/bucket", query: [["delete", ""]] },
    root: "Delete",
    path: ["Object", "Key"],
  },
  {
    name: "CompleteMultipartUpload",
    raw: { method: "POST", path: "/bucket/there", query: [["uploadId", uploadId]] },
    root: "CompleteMultipartUpload",
    path: ["Part", "ETag"],
  },
  {
    name: "PutBucketCors",
    raw: { method: "PUT", path: "/bucket", query: [["cors", ""]] },
    root: "CORSConfiguration",
    path: ["CORSRule", "AllowedOrigin"],
  },
  {
    name: "PutBucketLifecycle",
    raw: { method: "PUT", path: "/bucket", query: [["lifecycle", ""]] },
    root: "LifecycleConfiguration",
    path: ["Rule", "ID"],
  },
];

/** The document with this content in its innermost element. */
function nested({ root, path }: Reader, content: string): string {
  const names = [root, ...path];
  return `${names.map((name) => `<${name}>`).join("")}${content}${names
    .reverse()
    .map((name) => `</${name}>`)
    .join("")}`;
}

const bombs: Readonly<Record<string, (reader: Reader) => string>> = {
  "a flood of ampersands": (reader) => nested(reader, "&".repeat(3.9 * MiB)),
  "a flood of entities without an end": (reader) => nested(reader, "&amp".repeat(0.9 * MiB)),
  "a flood of entities": (reader) => nested(reader, "&amp;".repeat(0.7 * MiB)),
  "a flood of character references": (reader) => nested(reader, "&#x41;".repeat(0.6 * MiB)),
  "an entity with a name of 3 MiB": (reader) => nested(reader, `&${"a".repeat(3 * MiB)};`),
  "text of 3.9 MiB": (reader) => nested(reader, "a".repeat(3.9 * MiB)),
  depth: ({ root }) => `<${root}>${"<a>".repeat(MiB)}`,
  "a flood of elements": ({ root }) => `<${root}>${"<a/>".repeat(0.9 * MiB)}</${root}>`,
  "a flood of attributes": ({ root }) =>
    `<${root} ${Array.from({ length: 200_000 }, (_, i) => `a${i}="${i}"`).join(" ")}/>`,
  "an attribute without an end": ({ root }) => `<${root} a="${"x".repeat(3.9 * MiB)}`,
  "spaces in a tag": ({ root }) => `<${root}${" ".repeat(3.9 * MiB)}a>`,
  "a tag's name without an end": () => `<${"a".repeat(3.9 * MiB)}`,
  "opening brackets": () => "<".repeat(3.9 * MiB),
  comments: ({ root }) => `<${root}>${"<!---->".repeat(0.5 * MiB)}</${root}>`,
  "a comment without an end": ({ root }) => `<${root}><!--${"-".repeat(3.9 * MiB)}`,
  "CDATA without an end": ({ root }) => `<${root}><![CDATA[${"]]".repeat(1.9 * MiB)}`,
  "instructions without an end": ({ root }) => `<${root}>${"<?".repeat(1.9 * MiB)}`,
  "a DOCTYPE": (reader) => `<!DOCTYPE x [<!ENTITY a "b">]>${nested(reader, "&a;")}`,
  "an expansion of entities": (reader) =>
    `<!DOCTYPE x [<!ENTITY a "${"a".repeat(1000)}"><!ENTITY b "${"&a;".repeat(1000)}"><!ENTITY c "${"&b;".repeat(1000)}">]>${nested(reader, "&c;")}`,
  "a file by entity": (reader) =>
    `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>${nested(reader, "&a;")}`,
};

/** What a refusal should cost is 50 ms; the bound allows for a busy machine and for receiving 4 MiB. */
const mostMilliseconds = 1000;

test("XML that is made to burn time is refused for little of it", async (t) => {
  const target = await openTarget(t);
  const { url, key, call, server } = target;
  assert.equal(
    (await call({ method: "PUT", path: "/bucket/there", body: Buffer.from("there") })).status,
    200,
  );
  const created = await call({ method: "POST", path: "/bucket/there", query: [["uploads", ""]] });
  const all = readers(/<UploadId>(\w+)</.exec(created.text)![1]!);
  const before = await snapshot(target);
  const send = ({ raw }: Reader, document: string) =>
    sendRaw(url, signRaw(url, { ...raw, body: Buffer.from(document) }, { key, form: "header" }));

  for (const reader of all) {
    await t.test(reader.name, async (t) => {
      const faults: string[] = [];
      let most = 0;
      for (const [what, make] of Object.entries(bombs)) {
        const document = make(reader);
        const started = treeCpuMilliseconds(server.pid);
        const found = await send(reader, document).catch((error: NodeJS.ErrnoException) => error);
        const spent = treeCpuMilliseconds(server.pid) - started;
        most = Math.max(most, spent);
        if (spent >= mostMilliseconds) faults.push(`${what}: ${spent} ms of CPU`);
        if (!isRefused(found)) faults.push(`${what}: ${String(found instanceof Error ? found : found.text)}`);
      }
      t.diagnostic(`the dearest took ${most} ms of CPU`);
      assert.deepEqual(faults, []);
    });
  }
  await t.test("four at once do not stop the S3 API", async () => {
    const [reader] = all;
    const document = bombs["a flood of ampersands"]!(reader!);
    const bombing = [1, 2, 3, 4].map(() => send(reader!, document));
    await assertServed(target, 20);
    for (const { status } of await Promise.all(bombing)) assert.equal(status, 400);
  });
  assert.equal(await snapshot(target), before, "nothing was deleted, completed or set");
  target.assertSameProcesses();
});

/** Refused by an answer, or cut off since it is too large to be received at all. */
function isRefused(found: RawAnswer | NodeJS.ErrnoException): boolean {
  if (found instanceof Error) return found.code === "EPIPE" || found.code === "ECONNRESET";
  return found.status >= 400 && found.status < 500 && !found.text.includes("root:");
}

/** Honest reads go on: none runs into the limit of the client, and all together are few. */
async function assertServed({ call }: Target, times: number): Promise<void> {
  const began = Date.now();
  for (let i = 0; i < times; i++)
    assert.equal((await call({ method: "GET", path: "/bucket/there" })).text, "there");
  const took = Date.now() - began;
  assert.ok(took < 10_000, `${times} reads beside it took ${took} ms`);
}
