// Fuzz targets of signatures: a request changed in any part its signature covers must be refused.
import { createTokenVerifier } from "../../../../src/access/temporary/verify.ts";
import { unsignedPayload } from "../../../../src/http/sigv4.ts";
import { authenticate } from "../../../../src/s3/auth/authenticate.ts";
import { readRequest, type S3Request } from "../../../../src/s3/request.ts";
import { type Raw, signRaw } from "../../../s3/raw.ts";
import { holds, type Target } from "../target.ts";
import { fixedNow, httpRequest, s3Outcome } from "./s3.ts";

const key = { accessKeyId: "STOREAAAAAAAAAAAAAAA", secretAccessKey: "secret" };
const credential = {
  ...key,
  account: "default",
  grants: undefined,
  created: 0,
  expires: undefined,
  state: "active" as const,
  previousUntil: undefined,
  secrets: [key.secretAccessKey],
};
const options = {
  credentials: { find: async (id: string) => (id === key.accessKeyId ? credential : undefined) },
  tokens: createTokenVerifier(),
  regions: ["auto", "us-east-1", ""],
  now: () => fixedNow,
};

const requests: readonly Raw[] = [
  { method: "GET", path: "/bucket/key" },
  {
    method: "PUT",
    path: "/bucket/a%20b%2Bc",
    headers: { "x-amz-meta-a": "b  c", "content-type": "text/plain" },
  },
  {
    method: "GET",
    path: "/bucket",
    query: [
      ["list-type", "2"],
      ["prefix", "ü /&="],
    ],
    headers: { range: "bytes=0-1" },
  },
];

function textOf({ method, path, query = [], headers = {} }: Raw): string {
  const pairs = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  const target = pairs.length === 0 ? path : `${path}?${pairs.join("&")}`;
  return [`${method} ${target}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)].join(
    "\n",
  );
}

/** Returns the signed parts of a request, independently of the product's canonical form. */
function essenceOf({ method, path, query, http, header }: S3Request): string {
  const claims = (header("authorization") ?? "").replace(/^\S+\s/, "").split(",");
  // If SignedHeaders is given twice, the last value counts.
  const claim = claims.map((one) => /^\s*SignedHeaders\s*=(.*)$/s.exec(one)?.[1]?.trim()).filter(Boolean);
  const names = (claim.at(-1) ?? query.get("X-Amz-SignedHeaders") ?? "").split(";");
  const values = new Map<string, string[]>(names.map((name) => [name, []]));
  for (let i = 0; i + 1 < http.rawHeaders.length; i += 2) {
    const name = http.rawHeaders[i]!.toLowerCase();
    // x-amz- headers count as covered: x-amz-content-sha256 is signed even if it is not listed.
    const isCovered = names.includes(name) || name.startsWith("x-amz-");
    if (isCovered) values.set(name, [...(values.get(name) ?? []), http.rawHeaders[i + 1]!.trim()]);
  }
  const covered = [...values].map(([name, all]) =>
    [name, all.join(",").replace(/ +/g, " ").trim()].join(":"),
  );
  const pairs = query.pairs
    .filter(([name]) => name !== "X-Amz-Signature")
    .map((pair) => JSON.stringify(pair));
  return JSON.stringify([method, path, pairs.sort(), covered.sort()]);
}

function signatures(name: string, form: "header" | "query", tokens: readonly string[]): Target {
  const samples = requests.map((raw) =>
    textOf(signRaw("http://h:1", raw, { key, form, time: fixedNow, payload: unsignedPayload })),
  );
  const signed = new Map(
    samples.map((text) => {
      const request = readRequest(httpRequest(text));
      const found = /Signature=([0-9a-f]{64})/.exec(text)![1]!;
      return [found, essenceOf(request)];
    }),
  );
  return {
    name,
    form: "bytes",
    samples,
    tokens,
    open: () => ({
      async run(input) {
        const request = readRequest(httpRequest(input));
        const { signing: by } = await authenticate(request, options);
        holds(
          signed.get(by!.signature) === essenceOf(request),
          "was changed after signing and is still accepted",
        );
        return "taken";
      },
      outcomeOf: s3Outcome,
    }),
  };
}

export const signatureTargets: readonly Target[] = [
  signatures("signature headers", "header", [
    ...[
      "AWS4-HMAC-SHA256 ",
      "Credential=",
      "SignedHeaders=",
      "Signature=",
      "host;",
      ";x-amz-date",
      "x-amz-a: b\n",
    ],
    ...[
      "\nhost: h:1",
      "/aws4_request",
      "20261115",
      "T000000Z",
      "x-amz-security-token: a\n",
      "AWS a:b",
      "a:\n",
    ],
  ]),
  signatures("presigned queries", "query", [
    ...[
      "&X-Amz-Signature=",
      "&X-Amz-Expires=",
      "&X-Amz-Algorithm=AWS4-HMAC-SHA256",
      "&X-Amz-Security-Token=a",
      "%2F",
    ],
    ...[
      "604800",
      "604801",
      "host%3Brange",
      "&prefix=",
      "&x-amz-meta-a=b",
      "\nx-amz-a: b",
      "a:\n",
      "\nauthorization: AWS4",
    ],
  ]),
];
