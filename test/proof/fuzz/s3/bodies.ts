// Fuzz targets of request bodies: aws-chunked, signed and unsigned, forms and their policies. An
// accepted body must equal the framed body.

import { createHash } from "node:crypto";
import { createTokenVerifier } from "../../../../src/access/temporary/verify.ts";
import { scopeText, sha256, sign } from "../../../../src/http/sigv4.ts";
import { checkPolicy } from "../../../../src/s3/auth/post-policy.ts";
import { openPayload } from "../../../../src/s3/body/payload.ts";
import { readOperation } from "../../../../src/s3/operation.ts";
import { postObject } from "../../../../src/s3/operations/post-object.ts";
import { readRequest } from "../../../../src/s3/request.ts";
import { boundary, encodeForm, signedFields } from "../../../s3/form.ts";
import { collect } from "../../../support/bytes.ts";
import { holds, type Target } from "../target.ts";
import { unframed } from "../unframed.ts";
import {
  checkAnswer,
  domains,
  httpRequest,
  inPieces,
  s3Outcome,
  share,
  unsigned,
  worldRunner,
} from "./s3.ts";

const bodies = ["", "x", "hello, world", "\r\n0\r\n\r\n", "y".repeat(300)];
const caller = { accessKeyId: "a", account: "default", grants: undefined };
const trailer = "x-amz-checksum-sha256";

interface Framing {
  readonly isSigned: boolean;
  readonly hasTrailer: boolean;
}

function framed(body: string, { isSigned, hasTrailer }: Framing): string {
  const { key, scope, time } = unsigned;
  let previous = unsigned.signature;
  const text: string[] = [];
  for (let at = 0; ; at += 100) {
    const chunk = body.slice(at, at + 100);
    const hash = sha256(Buffer.from(chunk, "latin1"));
    previous = sign(
      key,
      ["AWS4-HMAC-SHA256-PAYLOAD", time, scopeText(scope), previous, sha256(""), hash].join("\n"),
    );
    const signature = isSigned ? `;chunk-signature=${previous}` : "";
    text.push(`${chunk.length.toString(16)}${signature}\r\n${chunk}${chunk === "" ? "" : "\r\n"}`);
    if (chunk === "") break;
  }
  if (hasTrailer) {
    const line = `${trailer}:${createHash("sha256").update(body, "latin1").digest("base64")}`;
    const signed = ["AWS4-HMAC-SHA256-TRAILER", time, scopeText(scope), previous, sha256(`${line}\n`)].join(
      "\n",
    );
    text.push(`${line}\r\n${isSigned ? `x-amz-trailer-signature:${sign(key, signed)}\r\n` : ""}`);
  }
  return `${text.join("")}\r\n`;
}

function chunkedTarget(form: string, framing: Framing): Target {
  const payload = `STREAMING-${form}`;
  const head = `PUT /bucket/a\nhost: h${framing.hasTrailer ? `\nx-amz-trailer: ${trailer}` : ""}`;
  const whole = readRequest(httpRequest(head));
  /** Reads the body in pieces whose sizes follow from `measure`; returns the body or the error. */
  async function read(
    bytes: Buffer,
    measure: number,
  ): Promise<{ body: string; trailers: string } | { error: unknown }> {
    try {
      const request = {
        ...whole,
        http: { ...whole.http, hasBody: true, body: () => inPieces(bytes, measure) },
      };
      const { source, trailers } = openPayload(request, { caller, payload, signing: unsigned }, share());
      const body = (await collect(source.chunks())).toString("latin1");
      return { body, trailers: JSON.stringify([...trailers]) };
    } catch (error) {
      return { error };
    }
  }
  return {
    name: `aws-chunked: ${form}`,
    form: "bytes",
    samples: bodies.map((body) => framed(body, framing)),
    tokens: [
      "0\r\n",
      "\r\n",
      "0\r\n\r\n",
      ";chunk-signature=",
      `${trailer}:`,
      "ffffffff",
      "140000000",
      "5",
      ";",
      "x-a:b\r\n",
    ],
    open: () => ({
      async run(input) {
        const bytes = Buffer.from(input, "latin1");
        const found = await read(bytes, input.length);
        if (input.length % 4 === 0) {
          const other = await read(bytes, input.length * 31 + 17);
          const same = "error" in found ? s3Outcome(found.error) : found.body;
          holds(
            same === ("error" in other ? s3Outcome(other.error) : other.body),
            "depends on how the body is split into pieces",
          );
        }
        if ("error" in found) throw found.error;
        if (framing.isSigned)
          holds(bodies.includes(found.body), `gives ${found.body.length} bytes that were not signed`);
        holds(unframed(input) === found.body, "gives bytes other than those framed");
        return `taken, ${found.trailers.length > 2}`;
      },
      outcomeOf: s3Outcome,
    }),
  };
}

const key = { accessKeyId: "STOREAAAAAAAAAAAAAAA", secretAccessKey: "secret" };
const credential = { ...key, ...caller, secrets: [key.secretAccessKey], state: "active" as const };
const far = Date.UTC(2100, 0);
const fields = signedFields({ key, bucket: "bucket", expires: far });
const named = fields.map(([name, value]) => [name, name === "key" ? `form/$\{filename}` : value] as const);

const forms: Target = {
  name: "forms",
  form: "bytes",
  samples: [encodeForm(fields), encodeForm(named, "\r\n--\r\nthe file"), encodeForm([["key", "form/a"]])],
  tokens: [
    ...[
      `--${boundary}`,
      `\r\n--${boundary}--`,
      "\r\n\r\n",
      'name="',
      "; filename=",
      '\\"',
      ';name="\\"',
      'name="file"',
    ],
    ...[
      "Content-Disposition: form-data; ",
      "content-type: a/b\r\n",
      "success_action_status",
      "201",
      "x-amz-storage-class",
    ],
  ],
  open: () =>
    worldRunner(async (input, { engine }) => {
      const head = `POST /bucket\nhost: h\ncontent-type: multipart/form-data; boundary=${boundary}`;
      const request = readRequest(httpRequest(`${head}\n\n${input}`));
      const operation = readOperation(request, domains);
      const find = async (id: string) => (id === key.accessKeyId ? whole : undefined);
      await checkAnswer(
        await postObject(request, operation, {
          engine,
          share: share("form"),
          credentials: { find },
          tokens: createTokenVerifier(),
          now: Date.now,
          onAuthenticated: async () => undefined,
        }),
        input,
      );
      const { objects } = await engine.list("bucket", { prefix: "form/" });
      holds(objects.length > 0, "stored an object that its policy does not allow");
      const [{ key: stored } = { key: "" }] = objects;
      const outcome = await engine.get("bucket", stored, {});
      if (outcome.outcome === "found") {
        const text = (await collect(outcome.bytes.chunks())).toString("latin1");
        holds(input.includes(text), "stored bytes that were not sent");
      }
      await engine.delete(
        "bucket",
        objects.map((record) => record.key),
      );
      return "stored";
    }),
};

const whole = { ...credential, created: 0, expires: undefined, previousUntil: undefined };

const policies: Target = {
  name: "policies",
  form: "text",
  samples: [
    Buffer.from(fields.find(([name]) => name === "policy")![1], "base64").toString(),
    '{"expiration":"2100-01-01T00:00:00Z","conditions":[["content-length-range",1,"10"],["starts-with","$key",""],["eq","$Content-Type","a"],{"bucket":"b"}]}',
  ],
  tokens: [
    "[",
    "[[",
    "{",
    '["eq","$a","b"],',
    '"content-length-range"',
    "null",
    "1e308",
    '"conditions":',
    "[[[[[[[[",
  ],
  open: () => ({
    run(input) {
      const given = new Map([...fields, ["bucket", "bucket"]]);
      const { minBytes: least, maxBytes: most } = checkPolicy(
        Buffer.from(input).toString("base64"),
        given,
        Date.now(),
      );
      holds(least >= 0 && !Number.isNaN(most), `allows lengths from ${least} to ${most}`);
      return "allowed";
    },
    outcomeOf: s3Outcome,
  }),
};

export const bodyTargets: readonly Target[] = [
  chunkedTarget("AWS4-HMAC-SHA256-PAYLOAD", { isSigned: true, hasTrailer: false }),
  chunkedTarget("AWS4-HMAC-SHA256-PAYLOAD-TRAILER", { isSigned: true, hasTrailer: true }),
  chunkedTarget("UNSIGNED-PAYLOAD-TRAILER", { isSigned: false, hasTrailer: true }),
  forms,
  policies,
];
