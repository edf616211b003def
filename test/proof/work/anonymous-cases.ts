// The most expensive requests of callers without any right.
import type { RepeatedRequest } from "../overload/attacker.ts";
import type { WorkCase, WorkStage } from "./stage.ts";

/** The longest request head that the server reads, less room for the other lines. */
const longHead = 14_000;
const many = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i));

function put(path: string, query: string, body: string) {
  return { method: "PUT", path, query: [[query, ""] as const], body: Buffer.from(body) };
}

/** Every rule fits the origin and the method, so that all names are looked up in all rules. */
function corsRules(): string {
  const rule = `<CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod>${many(15, (i) => `<AllowedHeader>*a${i}</AllowedHeader>`).join("")}</CORSRule>`;
  return `<CORSConfiguration>${rule.repeat(80)}</CORSConfiguration>`;
}

async function preflight({ call }: WorkStage, bucket: string, port: number): Promise<RepeatedRequest> {
  await call(put(`/${bucket}`, "cors", corsRules()));
  return {
    ...{ port, method: "OPTIONS", path: `/${bucket}/small` },
    headers: {
      origin: "https://elsewhere.example",
      "access-control-request-method": "GET",
      "access-control-request-headers": many(100, (i) => `${"a".repeat(100)}-${i}`).join(","),
    },
  };
}

const preflights: readonly WorkCase[] = [
  {
    name: "headers of a preflight, with those of CORS rules, on the S3 port",
    prepare: (stage) => preflight(stage, "bucket", stage.scene.ports.s3),
  },
  {
    name: "headers of a preflight, with those of CORS rules, on the public port",
    prepare: (stage) => preflight(stage, "site", stage.scene.ports.public),
  },
];

const policy: WorkCase = {
  name: "the text of a header, with the wildcards of a bucket policy",
  async prepare({ call, scene }) {
    const condition = { StringLike: { "aws:UserAgent": many(8, (i) => `*${"a*".repeat(400)}${i}b`) } };
    const statement = { Effect: "Allow", Principal: "*", Action: "s3:GetObject", Condition: condition };
    const Statement = [{ ...statement, Resource: "arn:aws:s3:::conditions/*" }];
    await call({ method: "PUT", path: "/conditions" });
    await call(put("/conditions", "policy", JSON.stringify({ Version: "2012-10-17", Statement })));
    const headers = { "user-agent": "a".repeat(8000) };
    return { port: scene.ports.s3, method: "GET", path: "/conditions/key", headers };
  },
};

const publicReads: readonly WorkCase[] = [
  {
    name: "etags of a condition, on the public port",
    prepare: async ({ scene }) => ({
      ...{ port: scene.ports.public, method: "GET", path: "/site/small" },
      headers: {
        "if-none-match": many(longHead / 5, () => '"a"')
          .join(", ")
          .slice(0, longHead),
      },
    }),
  },
  {
    name: "ranges of an object, on the public port",
    prepare: async ({ scene }) => ({
      ...{ port: scene.ports.public, method: "GET", path: "/site/large" },
      headers: {
        range: `bytes=${many(longHead / 5, (i) => `${i % 10}-${i % 10}`).join(",")}`.slice(0, longHead),
      },
    }),
  },
];

const boundary = "a-boundary";
const field = (name: string, value: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

const form: WorkCase = {
  name: "pieces of a form of one byte each",
  prepare: async ({ scene }) => ({
    ...{ port: scene.ports.s3, method: "POST", path: "/bucket", pieceBytes: 1 },
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: field("key", "key") + field("x-ignore-a", `\r\n--${boundary.slice(0, -1)}`.repeat(1000)),
  }),
};

const tokens: WorkCase = {
  name: "parts of a token that no provider signed",
  prepare: async ({ scene }) => ({
    ...{ port: scene.ports.s3, method: "POST", path: "/" },
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: `Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn:aws:iam::x:role/none&RoleSessionName=none&WebIdentityToken=${"a.".repeat(9000)}`,
  }),
};

const signature: WorkCase = {
  name: "signed headers of a wrong signature",
  prepare: async ({ scene }) => ({
    ...{ port: scene.ports.s3, method: "GET" },
    path: `/bucket/small?${many(60, (i) => `name-${i}=${"%41".repeat(50)}`).join("&")}`,
    headers: {
      ...Object.fromEntries(many(60, (i) => `x-amz-meta-${i}`).map((name) => [name, "a  b ".repeat(10)])),
      "x-amz-date": new Date().toISOString().replace(/[-:]|\.\d+/g, ""),
      "x-amz-content-sha256": "UNSIGNED-PAYLOAD",
      authorization: `AWS4-HMAC-SHA256 Credential=${scene.key.accessKeyId}/${new Date().toISOString().slice(0, 10).replaceAll("-", "")}/auto/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date;${many(
        60,
        (i) => `x-amz-meta-${i}`,
      )
        .sort()
        .join(";")}, Signature=${"0".repeat(64)}`,
    },
  }),
};

export const anonymousCases: readonly WorkCase[] = [
  ...preflights,
  policy,
  ...publicReads,
  form,
  tokens,
  signature,
];
