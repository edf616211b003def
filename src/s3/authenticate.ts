// Who sent a request: Signature Version 4 in the Authorization header or in the query. Every other form is refused.
import { timingSafeEqual } from "node:crypto";
import { parseHttpDate } from "../http/headers.ts";
import {
  algorithm,
  amzTime,
  canonicalText,
  emptyHash,
  parseAmzTime,
  type Scope,
  sign,
  signingKey,
  stringToSign,
  unsignedPayload,
} from "../http/signing.ts";
import type { Caller } from "./authorize.ts";
import type { Credential, Credentials } from "./credentials.ts";
import { S3Error } from "./errors.ts";
import type { S3Request } from "./request.ts";

/** What the chunks of a body are signed with, one after the other. */
export interface SignedBy {
  readonly key: Uint8Array;
  readonly scope: Scope;
  readonly time: string;
  readonly signature: string;
}

export interface Authentication {
  readonly caller: Caller;
  /** As the sender named it: a hash, unsigned, or one of the streaming forms. */
  readonly payload: string;
  readonly signed: SignedBy;
}

export interface AuthenticateOptions {
  readonly credentials: Pick<Credentials, "find">;
  readonly regions: readonly string[];
  readonly now: () => number;
  /** Told of each key that has signed what it asks. */
  readonly used?: ((accessKeyId: string) => void) | undefined;
}

/** What a request says of its signature, whichever way it says it. */
interface Claim {
  readonly form: "header" | "query";
  readonly credential: string;
  readonly signedHeaders: string;
  readonly signature: string;
  readonly time: string;
  readonly payload: string;
}

const skewMilliseconds = 15 * 60_000;
const longestExpiry = 604_800;

export async function authenticate(
  request: S3Request,
  options: AuthenticateOptions,
): Promise<Authentication> {
  const claim = readClaim(request);
  checkTime(request, claim, options.now());
  const { accessKeyId, scope } = readCredential(claim, options.regions);
  const credential = await activeCredential(options.credentials, accessKeyId);
  const canonical = canonicalText({
    method: request.method,
    path: request.canonicalPath,
    query: request.query.signed(),
    headers: signedHeaders(request, claim),
    payloadHash: claim.payload,
  });
  const text = stringToSign(claim.time, scope, canonical);
  for (const secret of credential.secrets) {
    const key = cachedKey(secret, scope);
    if (sameText(sign(key, text), claim.signature)) {
      options.used?.(accessKeyId);
      const signed = { key, scope, time: claim.time, signature: claim.signature };
      return { caller: credential, payload: claim.payload, signed };
    }
  }
  throw new S3Error("SignatureDoesNotMatch", {
    details: {
      AWSAccessKeyId: accessKeyId,
      StringToSign: text,
      SignatureProvided: claim.signature,
      CanonicalRequest: canonical,
    },
  });
}

export async function activeCredential(
  credentials: Pick<Credentials, "find">,
  accessKeyId: string,
): Promise<Credential> {
  const credential = await credentials.find(accessKeyId);
  if (credential?.state === "active") return credential;
  const message =
    credential === undefined ? undefined : `The access key ID you provided is ${credential.state}.`;
  throw new S3Error("InvalidAccessKeyId", { message, details: { AWSAccessKeyId: accessKeyId } });
}

function readClaim(request: S3Request): Claim {
  const header = request.header("authorization");
  const inQuery = request.query.has("X-Amz-Algorithm") || request.query.has("X-Amz-Signature");
  if (header !== undefined && inQuery) {
    throw new S3Error("InvalidArgument", {
      message:
        "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter or the Authorization header should be specified",
    });
  }
  if (request.query.has("AWSAccessKeyId") || /^AWS /.test(header ?? "")) throw oldSignature();
  if (request.header("x-amz-security-token") !== undefined || request.query.has("X-Amz-Security-Token")) {
    throw new S3Error("InvalidToken", {
      message: "There are no temporary credentials here, so no security token.",
    });
  }
  if (inQuery) return claimOfQuery(request);
  if (header === undefined) throw new S3Error("AccessDenied");
  return claimOfHeader(request, header);
}

function oldSignature(): S3Error {
  return new S3Error("InvalidRequest", {
    message: "The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.",
  });
}

function claimOfHeader(request: S3Request, header: string): Claim {
  const match = /^AWS4-HMAC-SHA256\s+(.*)$/.exec(header);
  if (match === null)
    throw /^AWS4-/.test(header)
      ? oldSignature()
      : new S3Error("InvalidArgument", { message: "Unsupported Authorization Type" });
  const fields = new Map(
    match[1]!.split(",").map((field) => {
      const at = field.indexOf("=");
      return [field.slice(0, at).trim(), field.slice(at + 1).trim()] as const;
    }),
  );
  const [credential, signedHeaders, signature] = ["Credential", "SignedHeaders", "Signature"].map((name) =>
    fields.get(name),
  );
  if (!credential || !signedHeaders || !signature) throw new S3Error("AuthorizationHeaderMalformed");
  // Of a body that is not there, everybody knows the hash.
  const payload = request.header("x-amz-content-sha256") ?? (request.http.hasBody ? undefined : emptyHash);
  if (payload === undefined) {
    throw new S3Error("InvalidRequest", {
      message: "Missing required header for this request: x-amz-content-sha256",
    });
  }
  return { form: "header", credential, signedHeaders, signature, time: timeOfHeaders(request), payload };
}

function timeOfHeaders(request: S3Request): string {
  const given = request.header("x-amz-date");
  if (given !== undefined) return given;
  // Mail's way to write GMT is what Python puts there.
  const date = parseHttpDate(request.header("date")?.replace(/ [+-]0000$/, " GMT") ?? null);
  if (date === undefined) {
    throw new S3Error("AccessDenied", {
      message: "AWS authentication requires a valid Date or x-amz-date header",
    });
  }
  return amzTime(date);
}

function claimOfQuery({ query, header }: S3Request): Claim {
  if (query.get("X-Amz-Algorithm") !== algorithm) {
    throw new S3Error("AuthorizationQueryParametersError", {
      message: 'X-Amz-Algorithm only supports "AWS4-HMAC-SHA256"',
    });
  }
  const field = (name: string) => {
    const value = query.get(name);
    if (value !== undefined && value !== "") return value;
    throw new S3Error("AuthorizationQueryParametersError", {
      message:
        "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.",
    });
  };
  field("X-Amz-Expires");
  return {
    form: "query",
    credential: field("X-Amz-Credential"),
    signedHeaders: field("X-Amz-SignedHeaders"),
    signature: field("X-Amz-Signature"),
    time: field("X-Amz-Date"),
    payload: query.get("X-Amz-Content-Sha256") ?? header("x-amz-content-sha256") ?? unsignedPayload,
  };
}

function checkTime({ query }: S3Request, { form, time }: Claim, now: number): void {
  const sent = parseAmzTime(time);
  if (sent === undefined) {
    throw form === "query"
      ? new S3Error("AuthorizationQueryParametersError", {
          message: "X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"",
        })
      : new S3Error("AccessDenied", {
          message: "AWS authentication requires a valid Date or x-amz-date header",
        });
  }
  if (form === "header") {
    if (Math.abs(now - sent) <= skewMilliseconds) return;
    throw new S3Error("RequestTimeTooSkewed", {
      details: {
        RequestTime: time,
        ServerTime: new Date(now).toISOString(),
        MaxAllowedSkewMilliseconds: String(skewMilliseconds),
      },
    });
  }
  const text = query.get("X-Amz-Expires") ?? "";
  const expires = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(expires >= 1 && expires <= longestExpiry)) {
    throw new S3Error("AccessDenied", {
      message: `X-Amz-Expires must be a number of seconds from 1 to ${longestExpiry}`,
    });
  }
  if (now > sent + expires * 1000) throw new S3Error("AccessDenied", { message: "Request has expired" });
  if (sent - now > skewMilliseconds) {
    throw new S3Error("AccessDenied", { message: "Request is not valid yet" });
  }
}

function readCredential(
  { form, credential, time }: Claim,
  regions: readonly string[],
): { accessKeyId: string; scope: Scope } {
  const fail = (message: string, details?: Record<string, string>) =>
    new S3Error(form === "header" ? "AuthorizationHeaderMalformed" : "AuthorizationQueryParametersError", {
      message,
      details,
    });
  const parts = credential.split("/");
  const [accessKeyId, day, region, service, end] = parts;
  if (parts.length !== 5 || accessKeyId === undefined || day === undefined || region === undefined) {
    throw fail("The credential must be of the form ACCESS-KEY-ID/YYYYMMDD/REGION/s3/aws4_request.");
  }
  if (service !== "s3" || end !== "aws4_request") {
    throw fail('The credential must end with "s3/aws4_request".');
  }
  if (day !== time.slice(0, 8)) {
    throw fail(`The day of the credential, ${day}, is not that of the request, ${time.slice(0, 8)}.`);
  }
  if (!regions.includes(region)) {
    throw fail(`The region "${region}" is wrong; expecting "${regions[0]}"`, { Region: regions[0]! });
  }
  return { accessKeyId, scope: { day, region, service } };
}

/** Those that were signed, as they came; host and every x-amz header must be among them. */
function signedHeaders(request: S3Request, claim: Claim): (readonly [string, string])[] {
  const names = claim.signedHeaders.split(";");
  const signed = new Set(names);
  const { rawHeaders } = request.http;
  const values = new Map<string, string[]>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    const before = values.get(name);
    if (before === undefined) values.set(name, [rawHeaders[i + 1]!]);
    else before.push(rawHeaders[i + 1]!);
  }
  const unsigned = [...values.keys()].filter((name) => name.startsWith("x-amz-") && !signed.has(name));
  if (!signed.has("host")) unsigned.push("host");
  // The hash of an unsigned body is part of what is signed anyway.
  const open = claim.form === "query" ? unsigned.filter((name) => name !== "x-amz-content-sha256") : unsigned;
  if (open.length > 0) {
    throw new S3Error("AccessDenied", {
      message: "There were headers present in the request which were not signed",
      details: { HeadersNotSigned: open.join(", ") },
    });
  }
  return names.map((name) => [name, (values.get(name) ?? []).map((value) => value.trim()).join(",")]);
}

/** The same for a day: deriving it costs four hashes. */
const keys = new Map<string, Buffer>();

export function cachedKey(secret: string, scope: Scope): Buffer {
  const name = `${scope.day}/${scope.region}/${secret}`;
  const known = keys.get(name);
  if (known !== undefined) return known;
  if (keys.size >= 1000) keys.clear();
  const key = signingKey(secret, scope);
  keys.set(name, key);
  return key;
}

export function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
