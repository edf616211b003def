// Attacks with altered, truncated, repeated and oversized POST forms.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { boundary, encodeForm, type Field, postForm, signedFields } from "../s3/form.ts";
import type { RawAnswer } from "../s3/raw.ts";
import { treeMemory } from "../support/process-tree.ts";
import { openTarget, snapshot, type Target } from "./target.ts";

const MiB = 1024 * 1024;
const inFolder = ["starts-with", "$key", "form/"] as const;
const plain = [inFolder, { "x-amz-meta-tag": "one" }];
const multipart = `multipart/form-data; boundary=${boundary}`;

const part = (head: string, value: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
const file = (content = "the file", name = "a.txt") => part(`name="file"; filename="${name}"`, content);
const end = `--${boundary}--\r\n`;
const fieldsText = (fields: readonly Field[]) =>
  fields.map(([name, value]) => part(`name="${name}"`, value)).join("");
const withField = (fields: readonly Field[], name: string, value: string): Field[] =>
  fields.map(([one, was]) => [one, one === name ? value : was]);

type Attack = readonly [what: string, body: string | Buffer, type?: string];

/** Returns forms that violate their signed policy or the format. */
function attacks({ key }: Target): Attack[] {
  const signed = (conditions: readonly unknown[] = plain, expires?: number) =>
    signedFields({ key, bucket: "bucket", conditions, ...(expires === undefined ? {} : { expires }) });
  const good = signed();
  const wide = Buffer.from(JSON.stringify({ expiration: "2099-01-01T00:00:00Z", conditions: [] }));
  const policy = good.find(([name]) => name === "policy")![1];
  const sized = [...plain, ["content-length-range", 5, 10]];
  const whole = encodeForm(good);
  return [
    ["a widened policy", encodeForm(withField(good, "policy", wide.toString("base64")))],
    ["a policy with a byte flipped", encodeForm(withField(good, "policy", `A${policy.slice(1)}`))],
    ["an expired policy", encodeForm(signed(plain, Date.now() - 1000))],
    ["a signature of zeros", encodeForm(withField(good, "x-amz-signature", "0".repeat(64)))],
    ["a policy without conditions on the fields", encodeForm(signed([]))],
    ["a policy that is an empty object", encodeForm(signedFields({ key, bucket: "bucket", policy: "e30=" }))],
    ["a file larger than allowed", encodeForm(signed(sized), "x".repeat(11))],
    ["a file far larger than allowed", encodeForm(signed(sized), "x".repeat(5 * MiB))],
    ["a file smaller than allowed", encodeForm(signed(sized), "1234")],
    ["a key outside the allowed prefix", encodeForm(withField(good, "key", "elsewhere"))],
    ["the key prefix in capital letters", encodeForm(withField(good, "key", "FORM/x"))],
    ["a space before the key", encodeForm(withField(good, "key", " form/x"))],
    ["a second key field", fieldsText([...good, ["key", "elsewhere"]]) + file() + end],
    ["a second key field in capital letters", fieldsText([...good, ["KEY", "elsewhere"]]) + file() + end],
    ["a key that is only the file name", encodeForm(withField(good, "key", "$" + "{filename}"))],
    ["a field that no condition names", encodeForm([...good, ["x-amz-meta-more", "1"]])],
    ["an acl that no condition names", encodeForm([...good, ["acl", "public-read-write"]])],
    [
      "a success_action_redirect that no condition names",
      encodeForm([...good, ["success_action_redirect", "http://evil"]]),
    ],
    ["an encoded name of the key field", whole.replace('name="key"', "name*=utf-8''key")],
    ["the file before the fields", file() + fieldsText(good) + end],
    ["no file", fieldsText(good) + end],
    ["lines that end with LF alone", whole.replaceAll("\r\n", "\n")],
    ["no last boundary", fieldsText(good) + file().slice(0, -2)],
    ["a boundary that differs from the announced one", whole, "multipart/form-data; boundary=other"],
    ["an empty boundary", whole, 'multipart/form-data; boundary=""'],
    ["no boundary", whole, "multipart/form-data"],
    ["a boundary of 10,000 characters", whole, `multipart/form-data; boundary=${"b".repeat(10_000)}`],
    ["1 MiB before the first boundary", "x".repeat(MiB) + whole, multipart],
    ["a field of 5 MiB", encodeForm([["x-ignore-me", "x".repeat(5 * MiB)], ...good])],
    [
      "10,000 fields",
      encodeForm([...Array.from({ length: 10_000 }, (_, i): Field => [`x-ignore-${i}`, "x"]), ...good]),
    ],
    ["a field header of 1 MiB", whole.replace('name="key"', `name="key"; x="${"x".repeat(MiB)}"`)],
    ["5 MiB of incomplete boundaries", `--${boundary.slice(0, -1)}`.repeat((5 * MiB) / boundary.length)],
  ];
}

async function assertRefused(t: TestContext, target: Target): Promise<void> {
  for (const [what, body, type] of attacks(target)) {
    await t.test(`a POST form with ${what} is refused`, async () => {
      // The server may refuse and close the connection while the client still sends the form.
      const answer = await postForm(target.url, "bucket", body, type).catch(
        (error: NodeJS.ErrnoException): RawAnswer => {
          assert.match(error.code ?? "", /^(EPIPE|ECONNRESET)$/, String(error));
          return { status: 400, headers: {}, text: "", code: undefined };
        },
      );
      assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status} ${answer.text}`);
    });
  }
}

test("forged and malformed POST forms are refused, and nothing is stored", async (t) => {
  const target = await openTarget(t);
  const before = await snapshot(target);
  const memory = treeMemory(target.server.pid);
  await assertRefused(t, target);
  assert.equal(await snapshot(target), before);
  const growth = Math.round((treeMemory(target.server.pid) - memory) / MiB);
  assert.ok(growth < 96, `memory has grown by ${growth} MiB`);
  target.assertSameProcesses();

  const { url, key, call } = target;
  const conditions = [inFolder, { "x-amz-meta-tag": "one" }];
  const signed = (name: string) =>
    withField(signedFields({ key, bucket: "bucket", conditions }), "key", name);
  const stored = async (name: string) => {
    const answer = await call({ method: "GET", path: `/bucket/${name}` });
    return answer.status === 200 ? answer.text : answer.status;
  };
  await t.test("form fields after the file are ignored", async () => {
    const late = fieldsText([
      ["key", "elsewhere"],
      ["x-amz-meta-more", "1"],
    ]);
    const { status } = await postForm(url, "bucket", fieldsText(signed("form/late")) + file() + late + end);
    if (status < 300) {
      assert.equal(await stored("form/late"), "the file");
      const { headers } = await call({ method: "HEAD", path: "/bucket/form/late" });
      assert.equal(headers["x-amz-meta-more"], undefined);
    } else assert.ok(status < 500, String(status));
    assert.equal(await stored("elsewhere"), 404);
  });
  await t.test("text inside the file that resembles the boundary is stored as part of the file", async () => {
    const content = `a --${boundary}-- b\r\n-${boundary}\r\nkey: x\n--${boundary}\n`;
    assert.equal((await postForm(url, "bucket", encodeForm(signed("form/inside"), content))).status, 204);
    assert.equal(await stored("form/inside"), content);
  });
  await t.test("a file name with dot segments cannot leave the key prefix of the form", async () => {
    const fields = signed("form/$" + "{filename}");
    const { status } = await postForm(url, "bucket", fieldsText(fields) + file("x", "../../escaped") + end);
    assert.ok(status === 204 || (status >= 400 && status < 500), String(status));
    const { text } = await call({ method: "GET", path: "/bucket", query: [["list-type", "2"]] });
    for (const [, name] of text.matchAll(/<Key>([^<]*)<\/Key>/g)) assert.match(name!, /^form\//);
  });
});
