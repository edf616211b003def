// Generates policies that mean "anyone" in some way, and the requests of an anonymous caller that
// meet their conditions.
import type { Random } from "../../support/random.ts";

export interface AnyonePolicy {
  readonly text: string;
  /** Address of the client, which is in the networks of the policy. */
  readonly address: string;
  /** Headers that the conditions ask for. */
  readonly headers: Readonly<Record<string, string>>;
}

type Json = Readonly<Record<string, unknown>>;

const key = "STOREABCDEFGHIJKLMNO";
const owner = "0123456789abcdef".repeat(4);
const arn = `arn:aws:iam::default:user/${key}`;

/** Values of headers that every generated request has. */
export const clientHeaders = { referer: "https://example.test/page", "user-agent": "curl/8.5.0" } as const;

const principals: readonly unknown[] = [
  "*",
  { AWS: "*" },
  { AWS: ["*"] },
  { AWS: ["default", "*"] },
  { AWS: ["*", arn, key] },
  { AWS: "*", CanonicalUser: owner },
  { CanonicalUser: [owner], AWS: ["*"] },
];

/** Not in the supported language: the policy is refused, and denies everything if it is stored. */
const refusedPrincipals: readonly Json[] = [
  { NotPrincipal: { AWS: key } },
  { NotPrincipal: "default" },
  { Principal: "*", NotPrincipal: { AWS: "default" } },
  { Principal: { Federated: "*" } },
  { Principal: { Service: "*" } },
  { Principal: ["*"] },
  { Principal: "* " },
  { Principal: { AWS: "arn:aws:iam::*:root" } },
  { Principal: { AWS: "arn:aws:iam:::user/*" } },
  { Principal: { "*": "*" } },
];

/** Conditions that name callers in a way that includes an anonymous one. */
const callerConditions: readonly Json[] = [
  { StringEquals: { "aws:userid": "anonymous" } },
  { StringEquals: { "AWS:UserId": [key, "anonymous"] } },
  { StringEqualsIgnoreCase: { "aws:userid": "ANONYMOUS" } },
  ...["*", "anon*", "?nonymous", "*y*", "anonymous"].map((text) => ({
    StringLike: { "aws:userid": [key, text] },
  })),
  { "ForAnyValue:StringEquals": { "aws:userid": ["anonymous"] } },
  { "ForAllValues:StringLike": { "aws:userid": "anonym*" } },
  ...["aws:username", "aws:PrincipalAccount"].flatMap((name) => [
    { StringNotEquals: { [name]: "nobody" } },
    { StringNotLike: { [name]: "*" } },
    { StringNotEqualsIgnoreCase: { [name]: ["a", "b"] } },
    { StringEqualsIfExists: { [name]: "nobody" } },
    { StringLikeIfExists: { [name]: "no*" } },
    { "ForAllValues:StringEquals": { [name]: "nobody" } },
    { "ForAllValues:StringNotEqualsIfExists": { [name]: "*" } },
    { "ForAnyValue:StringEqualsIfExists": { [name]: "nobody" } },
    { Null: { [name]: true } },
    { Null: { [name]: "TRUE" } },
    { Null: { [name]: ["true", "false"] } },
  ]),
  { ArnNotEquals: { "aws:PrincipalArn": arn } },
  { ArnNotLike: { "aws:PrincipalArn": "arn:aws:iam::*" } },
  { ArnLikeIfExists: { "aws:PrincipalArn": arn } },
  { "ForAllValues:ArnEquals": { "aws:PrincipalArn": arn } },
  { Null: { "aws:PrincipalArn": "true" } },
  { StringNotEquals: { "aws:userid": key } },
  { StringNotLike: { "aws:userid": "STORE*" } },
  { Null: { "aws:userid": "false" } },
];

/** Conditions on values that any client can send, or that every request has. */
const otherConditions: readonly Json[] = [
  { Bool: { "aws:SecureTransport": "false" } },
  { BoolIfExists: { "aws:SecureTransport": ["true", "false"] } },
  { DateGreaterThan: { "aws:CurrentTime": "2000-01-01T00:00:00Z" } },
  { DateLessThan: { "aws:EpochTime": "9999999999" } },
  { DateNotEquals: { "aws:CurrentTime": "2000-01-01" } },
  { StringEquals: { "aws:Referer": clientHeaders.referer } },
  { StringLike: { "aws:Referer": ["https://example.test/*", "http://other.test/*"] } },
  { StringLike: { "aws:UserAgent": "curl/*" } },
  { StringNotLike: { "aws:UserAgent": "Mozilla*" } },
  { StringEqualsIgnoreCase: { "aws:UserAgent": "CURL/8.5.0" } },
  { Null: { "aws:Referer": "false" } },
  { Null: { "s3:authType": "true" } },
  { StringNotEquals: { "s3:signatureversion": "AWS" } },
  { StringEqualsIfExists: { "s3:authType": "REST-QUERY-STRING" } },
  { NumericLessThanEqualsIfExists: { "s3:max-keys": 1000 } },
  { NumericNotEquals: { "s3:max-keys": "7" } },
  { StringLikeIfExists: { "s3:prefix": "*" } },
  { StringNotEquals: { "s3:x-amz-acl": ["public-read", "public-read-write"] } },
  { "ForAllValues:StringEquals": { "s3:RequestObjectTagKeys": ["a", "b"] } },
  { StringEqualsIfExists: { "s3:RequestObjectTag/class": "public" } },
];

/** Actions with the part of the bucket that they need. */
const actions: readonly Json[] = [
  { Action: "s3:GetObject" },
  { Action: ["s3:GetObject", "s3:PutObject"] },
  { Action: "s3:*" },
  { Action: "*" },
  { Action: ["s3:g?tobject", "S3:PUTOBJECT*"] },
  { Action: ["s3:GetObject", "s3:ListBucket", "s3:DeleteObject"] },
  { NotAction: "s3:DeleteBucket" },
  { NotAction: ["s3:*Policy*", "s3:PutObjectAcl"] },
];

function resourcesOf(bucket: string, { pick }: Random): Json {
  const [all, keys] = [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`];
  return pick<Json>([
    { Resource: [all, keys] },
    { Resource: [all, `${keys.slice(0, -1)}?*`] },
    { Resource: `${all}*` },
    { Resource: "*" },
    { NotResource: `${keys.slice(0, -1)}private/*` },
  ]);
}

function addressOf({ below }: Random, family: "ipv4" | "ipv6" | "mapped"): string {
  const ipv4 = [1 + below(223), below(256), below(256), below(256)].join(".");
  if (family === "ipv4") return ipv4;
  if (family === "mapped") return `::ffff:${ipv4}`;
  return `2${below(4096).toString(16).padStart(3, "0")}:${below(65_536).toString(16)}::${1 + below(65_535)}`;
}

/** All addresses in 2^bits networks of one size, of which none is public alone if they are many. */
function allNetworks(bits: number): string[] {
  return Array.from({ length: 2 ** bits }, (_, i) => {
    const value = (i * 2 ** (32 - bits)) >>> 0;
    return `${[value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join(".")}/${bits}`;
  });
}

function networksOf({ below, pick }: Random, address: string): readonly string[] {
  if (address.includes(":") && !address.startsWith("::ffff:")) {
    const sixteenths = Array.from({ length: 16 }, (_, i) => `${i.toString(16)}000::/4`);
    return pick([["::/0"], ["::/1", "8000::/1"], sixteenths, ["2000::/3"], ["0.0.0.0/0", "::/0"]]);
  }
  const everything = pick([
    ["0.0.0.0/0"],
    ["0.0.0.0/0", "::/0"],
    ["::ffff:0:0/0"],
    allNetworks(1 + below(8)),
  ]);
  // Half of the Internet, in networks of the size that is not public alone.
  const [first] = address.replace("::ffff:", "").split(".").map(Number) as [number];
  const half = Array.from({ length: 128 }, (_, i) => `${(first + i) % 256}.0.0.0/8`);
  return everything[0] === "::ffff:0:0/0"
    ? ["0.0.0.0/1", "128.0.0.0/1", "::ffff:0:0/96"]
    : pick([everything, half]);
}

function networkCondition(random: Random, address: string): Json {
  const { pick } = random;
  const networks = networksOf(random, address);
  return pick<Json>([
    { IpAddress: { "aws:SourceIp": networks } },
    { IpAddress: { "AWS:SOURCEIP": networks } },
    { IpAddressIfExists: { "aws:SourceIp": networks } },
    { "ForAnyValue:IpAddress": { "aws:SourceIp": networks } },
    { "ForAllValues:IpAddress": { "aws:SourceIp": networks } },
    { NotIpAddress: { "aws:SourceIp": ["0.0.0.1/32", "2001:db8::/32"] } },
    { NotIpAddressIfExists: { "aws:SourceIp": "0.0.0.0/8" } },
    { Null: { "aws:SourceIp": "false" } },
  ]);
}

/** Joins conditions; two of one operator and one key cannot be joined, so the first stays. */
function join(conditions: readonly Json[]): Json {
  const joined: Record<string, Record<string, unknown>> = {};
  for (const [operator, keys] of conditions.flatMap((one) => Object.entries(one as Record<string, Json>))) {
    const lower = new Set(Object.keys(joined[operator] ?? {}).map((name) => name.toLowerCase()));
    const added = Object.entries(keys).filter(([name]) => !lower.has(name.toLowerCase()));
    if (added.length > 0) joined[operator] = { ...joined[operator], ...Object.fromEntries(added) };
  }
  return joined;
}

function conditionOf(random: Random, address: string): Json {
  const { below, pick } = random;
  const some = <T>(items: readonly T[], most: number) =>
    Array.from({ length: below(most + 1) }, () => pick(items));
  const conditions = [...some(callerConditions, 2), ...some(otherConditions, 2)];
  if (below(3) === 0) conditions.push(networkCondition(random, address));
  return conditions.length === 0 ? {} : { Condition: join(conditions) };
}

/** Statements beside the one that means anyone: they limit nobody who is anonymous. */
function companions({ below }: Random, bucket: string): Json[] {
  const Resource = `arn:aws:s3:::${bucket}/*`;
  const known: Json[] = [
    { Effect: "Allow", Principal: { AWS: "default" }, Action: "s3:*", Resource },
    { Effect: "Deny", Principal: { AWS: key }, Action: "s3:PutObject", Resource },
    { Effect: "Deny", Principal: "*", Action: "s3:GetObjectAcl", Resource },
    {
      ...{ Effect: "Deny", Principal: "*", Action: "s3:*", Resource },
      Condition: { StringEquals: { "aws:username": "nobody" } },
    },
  ];
  return known.filter(() => below(4) === 0);
}

export function generateAnyone(random: Random, bucket: string): AnyonePolicy {
  const { below, pick } = random;
  const address = addressOf(random, pick(["ipv4", "ipv4", "ipv6", "mapped"]));
  const statement: Json = {
    Effect: "Allow",
    ...(below(12) === 0 ? pick(refusedPrincipals) : { Principal: pick(principals) }),
    ...pick(actions),
    ...resourcesOf(bucket, random),
    ...conditionOf(random, address),
  };
  const others = companions(random, bucket);
  const statements = [...others.slice(0, 1), statement, ...others.slice(1)];
  const Statement = statements.length === 1 && below(2) === 0 ? statement : statements;
  const text = JSON.stringify({ ...(below(2) === 0 ? {} : { Version: "2012-10-17" }), Statement });
  return { text, address, headers: clientHeaders };
}
