// Forms whose body arrives in chunks of any size.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseBoundary, readForm } from "../../../src/s3/body/form-data.ts";

const line = "----formBoundary";
const boundary = parseBoundary(`multipart/form-data; boundary=${line}`);
const share = { resize: () => {}, release: () => {} };

function formOf(fields: Readonly<Record<string, string>>, file: string): Buffer {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${line}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const last = `--${line}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${file}\r\n--${line}--\r\n`;
  return Buffer.from(parts.join("") + last);
}

async function* inChunks(body: Buffer, size: number) {
  for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
}

test("a form is the same in chunks of any size", async () => {
  const fields = { key: "a/b", long: "x".repeat(20_000), policy: "p".repeat(3000) };
  const file = "some\r\n--bytes".repeat(50);
  const body = formOf(fields, file);
  for (const size of [1, 2, 7, 1000, 1024, body.length]) {
    const form = await readForm(inChunks(body, size), boundary, share);
    assert.deepEqual(Object.fromEntries(form.fields), fields, `chunks of ${size}`);
    const bytes: Buffer[] = [];
    for await (const chunk of form.file()) bytes.push(Buffer.from(chunk));
    assert.equal(Buffer.concat(bytes).toString(), file, `chunks of ${size}`);
  }
});

test("the fields of a form in chunks of one byte are copied a few times, not once for each chunk", async (t) => {
  const body = formOf({ key: "a", long: "x".repeat(60_000) }, "");
  let allocated = 0;
  const { concat, allocUnsafe } = Buffer;
  t.mock.method(Buffer, "concat", (list: readonly Uint8Array[]) => {
    const joined = concat(list);
    allocated += joined.length;
    return joined;
  });
  t.mock.method(Buffer, "allocUnsafe", (size: number) => {
    allocated += size;
    return allocUnsafe(size);
  });
  const { fields } = await readForm(inChunks(body, 1), boundary, share);
  assert.equal(fields.get("long")?.length, 60_000);
  assert.ok(allocated < 10 * body.length, `${allocated} bytes for a form of ${body.length}`);
});
