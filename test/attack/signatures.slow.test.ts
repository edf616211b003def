// Forged, altered, replayed and duplicate signatures are refused, and nothing is stored.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { type TestContext, test } from "node:test";
import {
  type Raw,
  type Signed,
  type Signing,
  sendRaw,
  signChunked,
  signRaw,
  streamingForms,
} from "../s3/raw.ts";
import { exchange, openTarget, requestText, snapshot, type Target } from "./target.ts";

const minute = 60_000;
const body = Buffer.alloc(20_000, "forged ");
const put: Raw = { method: "PUT", path: "/bucket/forged", headers: { "x-amz-meta-a": "one" }, body };

type Forgery = readonly [what: string, sent: Raw];

/** Returns forgeries that apply to signatures in the header and in the query. */
function forgeries(target: Target, form: Signing["form"]): Forgery[] {
  const { url, key } = target;
  const signed = (more: Partial<Signing> = {}, raw: Raw = put) => signRaw(url, raw, { key, form, ...more });
  const altered = Buffer.from(body);
  altered[altered.length - 1]! ^= 1;
  const good = signed(
    form === "query" ? { payload: signed({ form: "header" }).headers["x-amz-content-sha256"]! } : {},
  );
  return [
    ["a wrong secret", signed({ key: { ...key, secretAccessKey: `${key.secretAccessKey.slice(0, -1)}!` } })],
    ["an unknown access key", signed({ key: { ...key, accessKeyId: "STOREAAAAAAAAAAAAAAA" } })],
    ["another region in the credential scope", replaced(signed(), "/auto/s3/", "/eu-west-9/s3/")],
    ["a scope without a valid region", signed({ region: "eu west" })],
    ["a date 20 minutes ago", signed({ time: Date.now() - 20 * minute, expires: 60 })],
    ["a date 20 minutes in the future", signed({ time: Date.now() + 20 * minute })],
    ["a signature for another service", replaced(signed(), "/s3/aws4_request", "/sts/aws4_request")],
    ["another day in the credential scope", replaced(signed(), /\/\d{8}\//, "/20200101/")],
    ["an empty signature", replaced(signed(), /(Signature=)[0-9a-f]{64}/, "$1")],
    ["a signature of zeros", replaced(signed(), /(Signature=)[0-9a-f]{64}/, `$1${"0".repeat(64)}`)],
    ["an altered path", { ...good, path: "/bucket/forged2" }],
    ["a path with a dot segment", { ...good, path: "/bucket/x/../forged" }],
    ["an unsigned query parameter", { ...good, query: [...good.query, ["x-id", "PutObject"]] }],
    ["an altered signed header", { ...good, headers: { ...good.headers, "x-amz-meta-a": "two" } }],
    [
      "an unsigned x-amz header",
      { ...good, headers: { ...good.headers, "x-amz-storage-class": "STANDARD" } },
    ],
    ["an altered Host header", { ...good, headers: { ...good.headers, host: "localhost:1" } }],
    ["an altered method", { ...good, method: "DELETE", path: "/bucket/kept" }],
    ["an altered body", { ...good, body: altered }],
    ["a truncated body", { ...good, body: body.subarray(1) }],
  ];
}

/** Replaces text in the Authorization header or in the corresponding query parameter. */
function replaced(signed: Signed, pattern: string | RegExp, by: string): Raw {
  const swap = (text: string) => text.replace(pattern, by);
  const authorization = signed.headers.authorization;
  if (authorization !== undefined) {
    return { ...signed, headers: { ...signed.headers, authorization: swap(authorization) } };
  }
  const query = signed.query.map(([name, value]) => {
    const [, changed = ""] = swap(`${name.replace("X-Amz-", "")}=${value}`).split(/=(.*)/s);
    return [name, changed] as const;
  });
  return { ...signed, query };
}

async function assertRefused(t: TestContext, { url }: Target, all: readonly Forgery[]): Promise<void> {
  for (const [what, sent] of all) {
    await t.test(`a request with ${what} is refused`, async () => {
      const { status, text } = await sendRaw(url, sent);
      assert.ok(status === 400 || status === 403, `${status} ${text}`);
    });
  }
}

test("forged and altered requests are refused, and nothing is stored", async (t) => {
  const target = await openTarget(t);
  const { url, key, call } = target;
  assert.equal((await call({ method: "PUT", path: "/bucket/kept", body: Buffer.from("kept") })).status, 200);
  const before = await snapshot(target);

  await t.test("forgeries in the Authorization header are refused", (t) =>
    assertRefused(t, target, forgeries(target, "header")),
  );
  await t.test("forgeries in a presigned URL are refused", async (t) => {
    await assertRefused(t, target, forgeries(target, "query"));
    const presigned = (more: Partial<Signing>) => signRaw(url, put, { key, form: "query", ...more });
    const plain = presigned({});
    const longer = plain.query.map(
      ([name, value]) => [name, name === "X-Amz-Expires" ? "600000" : value] as const,
    );
    await assertRefused(t, target, [
      ["an expired presigned URL", presigned({ time: Date.now() - 5 * minute, expires: 60 })],
      ["an altered X-Amz-Expires", { ...plain, query: longer }],
      ["an X-Amz-Expires of more than a week", presigned({ expires: 604_801 })],
      ["an X-Amz-Expires of 0", presigned({ expires: 0 })],
    ]);
  });

  await t.test("forgeries in chunks and trailers are refused", async (t) => {
    for (const [payload, { isSigned, hasTrailer }] of Object.entries(streamingForms)) {
      const chunked = (fault?: Parameters<typeof signChunked>[4]) =>
        signChunked(url, put, key, payload, fault);
      const spoiled = (from: string | RegExp, to: string): Raw => {
        const signed = chunked();
        return {
          ...signed,
          body: Buffer.from(Buffer.from(signed.body!).toString("latin1").replace(from, to), "latin1"),
        };
      };
      const all: Forgery[] = [[`${payload} without the last chunk`, chunked("no end")]];
      if (isSigned) {
        all.push([`${payload} and altered chunk signatures`, chunked("wrong signature")]);
        all.push([`${payload} and an altered chunk`, spoiled("forged forged", "forged FORGED")]);
        all.push([
          `${payload} and a chunk without a signature`,
          spoiled(/;chunk-signature=[0-9a-f]{64}/, ""),
        ]);
      }
      if (hasTrailer) {
        all.push([
          `${payload} and an altered checksum in the trailer`,
          spoiled(/(checksum-sha256:)..../, "$1AAAA"),
        ]);
        all.push([`${payload} without the trailer`, chunked("no trailer")]);
      }
      if (isSigned && hasTrailer) {
        all.push([
          `${payload} and an altered trailer signature`,
          spoiled(/(trailer-signature:)..../, "$10000"),
        ]);
      }
      await assertRefused(t, target, all);
    }
  });

  await t.test("a request with two authorizations or with signature version 2 is refused", async (t) => {
    const good = signRaw(url, put, { key, form: "header" });
    const { authorization } = good.headers;
    const wrong = `${authorization!.slice(0, -4)}0000`;
    const { authorization: _, ...bare } = good.headers;
    const old = createHmac("sha1", key.secretAccessKey).update("PUT\n\n\n\n/bucket/forged").digest("base64");
    const query = signRaw(url, { method: "PUT", path: put.path }, { key, form: "query" });
    const texts: Readonly<Record<string, string>> = {
      "a valid and a wrong Authorization header": requestText(good, [`authorization: ${wrong}`]),
      "a wrong and a valid Authorization header": requestText({ ...good, headers: bare }, [
        `authorization: ${wrong}`,
        `authorization: ${authorization}`,
      ]),
      "the same Authorization header twice": requestText(good, [`authorization: ${authorization}`]),
      "an Authorization header and a presigned query": requestText({ ...good, query: query.query }),
      "signature version 2": requestText({
        ...put,
        headers: { host: bare.host!, authorization: `AWS ${key.accessKeyId}:${old}` },
      }),
      "signature version 2 in the query": requestText({
        ...{ method: "PUT", path: put.path, body, headers: { host: bare.host! } },
        query: [
          ["AWSAccessKeyId", key.accessKeyId],
          ["Expires", "4102444800"],
          ["Signature", old],
        ],
      }),
    };
    for (const [what, text] of Object.entries(texts)) {
      await t.test(`a request with ${what} is refused`, async () => {
        const { statuses } = await exchange(target.ports.s3, text);
        assert.ok(statuses.length === 1 && (statuses[0] === 400 || statuses[0] === 403), String(statuses));
      });
    }
  });

  assert.equal(await snapshot(target), before, "nothing was stored, replaced or deleted");
  target.assertSameProcesses();
  const { status } = await sendRaw(url, signRaw(url, put, { key, form: "header" }));
  assert.equal(status, 200, "the unaltered request is accepted");
});
