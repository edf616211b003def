// POST forms that violate their policy or are malformed get the right S3 error and store nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { boundary, encodeForm, type Field, type FormOptions, postForm, signedFields } from "../form.ts";
import { s3Processes } from "../inside.ts";
import { type RawAnswer, sendRaw, signRaw } from "../raw.ts";
import { type Key, type S3Scene, s3Scene } from "../scene.ts";

const altered = (fields: readonly Field[], name: string, value: string): Field[] =>
  fields.map(([one, was]) => [one, one === name ? value : was]);
const without = (fields: readonly Field[], name: string): Field[] => fields.filter(([one]) => one !== name);

/** The visible state of the store as text. */
async function snapshot({ url, key }: S3Scene): Promise<string> {
  const read = async (path: string, query: [string, string][] = []) =>
    (await sendRaw(url, signRaw(url, { method: "GET", path, query }, { key, form: "header" }))).text;
  const seen = [
    await read("/"),
    await read("/bucket"),
    await read("/other"),
    await read("/bucket", [["uploads", ""]]),
  ];
  return seen.join("\n").replace(/<RequestId>\w+</g, "");
}

function assertRefused(answer: RawAnswer, status: number, code: string, what: string): void {
  assert.deepEqual([answer.status, answer.code], [status, code], `${what}: ${answer.status} ${answer.text}`);
}

test("a POST form that its policy does not allow is refused, and the store does not change", async (t) => {
  const s3 = await s3Scene(t);
  const { url, key } = s3;
  await sendRaw(url, signRaw(url, { method: "PUT", path: "/other" }, { key, form: "header" }));
  const before = await snapshot(s3);
  const signed = (more: Partial<FormOptions> = {}) => signedFields({ key, bucket: "bucket", ...more });
  const post = (fields: readonly Field[], file?: string, bucket = "bucket") =>
    postForm(url, bucket, encodeForm(fields, file));
  const refuse = (what: string, answer: Promise<RawAnswer>, status: number, code: string) =>
    t.test(`a POST form with ${what} is refused with ${code}`, async () =>
      assertRefused(await answer, status, code, what),
    );
  const wrongSecret: Key = { ...key, secretAccessKey: "x".repeat(40) };
  const reader = await s3.newKey("--grant", "bucket:read,list");
  const stranger = await s3.newKey("--account", "stranger");

  for (const name of ["x-amz-algorithm", "x-amz-credential", "x-amz-date", "policy", "x-amz-signature"]) {
    await refuse(`no ${name}`, post(without(signed(), name)), 400, "InvalidArgument");
  }
  await refuse(
    "no key",
    post(without(signed({ conditions: [{ "x-amz-meta-tag": "one" }] }), "key")),
    400,
    "InvalidArgument",
  );
  await refuse("no authorization", post([["key", "form/upload"]]), 403, "AccessDenied");
  await refuse(
    "an unknown access key",
    post(signed({ key: { ...key, accessKeyId: "STOREAAAAAAAAAAAAAAA" } })),
    403,
    "InvalidAccessKeyId",
  );
  await refuse("a wrong secret", post(signed({ key: wrongSecret })), 403, "SignatureDoesNotMatch");
  await refuse("an expired policy", post(signed({ expires: Date.now() - 1000 })), 403, "AccessDenied");
  await refuse("a key that is not allowed", post(altered(signed(), "key", "elsewhere")), 403, "AccessDenied");
  await refuse("an altered field", post(altered(signed(), "x-amz-meta-tag", "two")), 403, "AccessDenied");
  await refuse("a missing field", post(without(signed(), "x-amz-meta-tag")), 403, "AccessDenied");
  await refuse("an extra field", post([...signed(), ["x-amz-meta-more", "1"]]), 403, "AccessDenied");
  await refuse("a repeated field", post([...signed(), ["key", "elsewhere"]]), 403, "AccessDenied");
  const wider = Buffer.from(JSON.stringify({ expiration: "2099-01-01T00:00:00Z", conditions: [] })).toString(
    "base64",
  );
  await refuse("an altered policy", post(altered(signed(), "policy", wider)), 403, "SignatureDoesNotMatch");
  await refuse(
    "an altered date",
    post(altered(signed(), "x-amz-date", "20200101T000000Z")),
    400,
    "InvalidArgument",
  );
  await refuse(
    "another region",
    post(altered(signed(), "x-amz-credential", `${key.accessKeyId}/20200101/eu-9/s3/aws4_request`)),
    400,
    "InvalidArgument",
  );
  await refuse("a policy for another bucket", post(signed(), undefined, "other"), 403, "AccessDenied");
  await refuse(
    "a bucket that does not exist",
    post(signed({ bucket: "missing" }), undefined, "missing"),
    404,
    "NoSuchBucket",
  );
  await refuse(
    "a bucket field that differs from the URL",
    post([...signed(), ["bucket", "bucket"]], undefined, "other"),
    403,
    "AccessDenied",
  );
  await refuse("an access key that may only read", post(signed({ key: reader })), 403, "AccessDenied");
  await refuse("an access key of another account", post(signed({ key: stranger })), 403, "AccessDenied");
  const sized = {
    conditions: [
      ["starts-with", "$key", ""],
      ["starts-with", "$x-amz-meta-tag", ""],
      ["content-length-range", 5, 10],
    ],
  };
  await refuse("a file that is too large", post(signed(sized), "x".repeat(11)), 400, "EntityTooLarge");
  await refuse(
    "a file that is much too large",
    post(signed(sized), "x".repeat(500_000)),
    400,
    "EntityTooLarge",
  );
  await refuse("a file that is too small", post(signed(sized), "1234"), 400, "EntityTooSmall");
  await refuse(
    "a key that is too long",
    post(altered(signed(sized), "key", "k".repeat(1025)), "12345"),
    400,
    "KeyTooLongError",
  );
  for (const policy of [
    "",
    "no base64 of JSON",
    Buffer.from("{}").toString("base64"),
    Buffer.from('{"expiration":"2099-01-01T00:00:00Z","conditions":[["eq","$key"]]}').toString("base64"),
  ]) {
    const code = policy === "" ? "InvalidArgument" : "InvalidPolicyDocument";
    await refuse(`the policy ${JSON.stringify(policy)}`, post(signed({ policy })), 400, code);
  }
  assert.equal(await snapshot(s3), before);

  await t.test("a POST form that its policy allows is stored", async () => {
    assert.equal((await post(signed(sized), "12345")).status, 204);
    const got = await sendRaw(
      url,
      signRaw(url, { method: "GET", path: "/bucket/form/upload" }, { key, form: "header" }),
    );
    assert.equal(got.text, "12345");
  });
});

test("a malformed POST form gets the right S3 error, and the server keeps running", async (t) => {
  const s3 = await s3Scene(t);
  const { url, key, server } = s3;
  const before = await snapshot(s3);
  const pids = s3Processes(server.pid);
  const fields = signedFields({ key, bucket: "bucket" });
  const whole = encodeForm(fields);
  const fileFirst = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n${whole}`;
  const rows: readonly [what: string, body: string, code: RegExp, type?: string][] = [
    ["no boundary", whole, /^PreconditionFailed$/, "multipart/form-data"],
    [
      "an empty boundary",
      whole,
      /^(PreconditionFailed|MalformedPOSTRequest)$/,
      "multipart/form-data; boundary=",
    ],
    ["a different boundary", whole, /^MalformedPOSTRequest$/, "multipart/form-data; boundary=other"],
    [
      "another content type",
      whole,
      /^(PreconditionFailed|MethodNotAllowed)$/,
      "application/x-www-form-urlencoded",
    ],
    ["an empty body", "", /^MalformedPOSTRequest$/],
    ["only the last boundary", `--${boundary}--\r\n`, /^InvalidArgument$/],
    [
      "no file",
      encodeForm(fields, undefined).replace(/--[^\r]*\r\n[^\r]*name="file"[\s\S]*?\r\n--/, "--"),
      /^InvalidArgument$/,
    ],
    ["the file before its fields", fileFirst, /^(AccessDenied|InvalidArgument)$/],
    ["a field without a name", whole.replace('name="key"', 'nom="key"'), /^MalformedPOSTRequest$/],
    ["a file with an empty name", whole.replace('name="file"', 'name=""'), /^MalformedPOSTRequest$/],
    [
      "a field without a head",
      whole.replace("Content-Disposition: form-data;", "X:"),
      /^MalformedPOSTRequest$/,
    ],
    [
      "a huge field",
      encodeForm([["x-ignore-me", "x".repeat(100_000)], ...fields]),
      /^MaxMessageLengthExceeded$/,
    ],
    [
      "many fields that are huge together",
      encodeForm([
        ...Array.from({ length: 100 }, (_, i): Field => [`x-ignore-${i}`, "x".repeat(1000)]),
        ...fields,
      ]),
      /^MaxMessageLengthExceeded$/,
    ],
    [
      "a huge head",
      whole.replace('name="key"', `name="key"; x="${"x".repeat(100_000)}"`),
      /^MaxMessageLengthExceeded$/,
    ],
    ["fields that are cut off", whole.slice(0, 200), /^MalformedPOSTRequest$/],
    ["a file that is cut off", whole.slice(0, whole.indexOf("the file") + 4), /^IncompleteBody$/],
    ["no last boundary", whole.slice(0, whole.lastIndexOf("\r\n--") + 3), /^IncompleteBody$/],
  ];
  for (const [what, body, code, type] of rows) {
    await t.test(`a POST form with ${what} gets an S3 error`, async () => {
      const answer = await postForm(url, "bucket", body, type);
      assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status} ${answer.text}`);
      assert.match(answer.code ?? "", code, answer.text);
    });
  }
  assert.deepEqual(s3Processes(server.pid), pids, "no S3 process was replaced");
  assert.doesNotMatch(server.log(), /failed|ended/i);
  assert.equal(await snapshot(s3), before);
});
