// XML bombs in every operation that reads a document: floods of entities, elements, attributes and
// text are refused with little CPU time, and four concurrent floods do not block the S3 API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Raw, type RawAnswer, sendRaw, signRaw } from "../s3/raw.ts";
import { treeCpuMilliseconds } from "../support/process-tree.ts";
import { openTarget, snapshot, type Target } from "./target.ts";

const MiB = 1024 * 1024;

/** An operation that reads a document: its request, root element and path to a text element. */
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

/** Returns a document with `content` in its innermost element. */
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

/** A refusal takes about 50 ms; the limit allows for a busy machine and for receiving 4 MiB. */
const maxMilliseconds = 1000;

test("XML bombs are refused with little CPU time", async (t) => {
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
    await t.test(`${reader.name} refuses XML bombs`, async (t) => {
      const faults: string[] = [];
      let maxSpent = 0;
      for (const [what, make] of Object.entries(bombs)) {
        const document = make(reader);
        const started = treeCpuMilliseconds(server.pid);
        const found = await send(reader, document).catch((error: NodeJS.ErrnoException) => error);
        const spent = treeCpuMilliseconds(server.pid) - started;
        maxSpent = Math.max(maxSpent, spent);
        if (spent >= maxMilliseconds) faults.push(`${what}: ${spent} ms of CPU`);
        if (!isRefused(found)) faults.push(`${what}: ${String(found instanceof Error ? found : found.text)}`);
      }
      t.diagnostic(`the most expensive took ${maxSpent} ms of CPU`);
      assert.deepEqual(faults, []);
    });
  }
  await t.test("four concurrent XML bombs do not block the S3 API", async () => {
    const [reader] = all;
    const document = bombs["a flood of ampersands"]!(reader!);
    const bombing = [1, 2, 3, 4].map(() => send(reader!, document));
    await assertServed(target, 20);
    for (const { status } of await Promise.all(bombing)) assert.equal(status, 400);
  });
  assert.equal(await snapshot(target), before, "nothing was deleted, completed or set");
  target.assertSameProcesses();
});

/** Whether the server refused the request, by an error status or by closing the connection. */
function isRefused(found: RawAnswer | NodeJS.ErrnoException): boolean {
  if (found instanceof Error) return found.code === "EPIPE" || found.code === "ECONNRESET";
  return found.status >= 400 && found.status < 500 && !found.text.includes("root:");
}

/** Asserts that `times` normal reads succeed within ten seconds. */
async function assertServed({ call }: Target, times: number): Promise<void> {
  const began = Date.now();
  for (let i = 0; i < times; i++)
    assert.equal((await call({ method: "GET", path: "/bucket/there" })).text, "there");
  const took = Date.now() - began;
  assert.ok(took < 10_000, `${times} concurrent reads took ${took} ms`);
}
