// Parses the signature of a request from the Authorization header or the query, and checks its time
// and scope. Parsed queries are cached, since clients use a presigned URL many times.
import { parseHttpDate } from "../../http/headers.ts";
import { maxHeaderLines } from "../../http/server/limits.ts";
import {
  algorithm,
  amzTime,
  emptyHash,
  parseAmzTime,
  type Scope,
  unsignedPayload,
} from "../../http/sigv4.ts";
import { S3Error } from "../errors.ts";
import { defaultRegion, isAcceptedRegion } from "../regions.ts";
import type { Query, S3Request } from "../request.ts";

export interface Claim {
  readonly form: "header" | "query";
  readonly accessKeyId: string;
  readonly scope: Scope;
  /** Header names in the order in which they were signed. */
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly time: string;
  /** Value of x-amz-content-sha256: a hash, UNSIGNED-PAYLOAD, or one of the STREAMING forms. */
  readonly payload: string;
  /** The session token of temporary credentials. */
  readonly token: string | undefined;
}

/** The service that a request is signed for. The body of an STS request is already hashed. */
export interface SignedService {
  readonly name: "s3" | "sts";
  readonly bodyHash?: string | undefined;
}

/** The parsed signature before its time is checked. */
interface ParsedSignature {
  /** The segments of the credential, split at slashes. */
  readonly credential: readonly string[];
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly time: string;
  /** Milliseconds since the epoch. */
  readonly sent: number;
}

interface ParsedQuerySignature extends ParsedSignature {
  readonly milliseconds: number;
  /** Payload hash from the query; if undefined, x-amz-content-sha256 in a header counts. */
  readonly payload: string | undefined;
}

/** Fields of the Authorization header. There are three; further ones are ignored. */
const maxFields = 16;
const skewMilliseconds = 15 * 60_000;
const maxExpirySeconds = 604_800;

const s3Service: SignedService = { name: "s3" };

export interface ClaimOptions {
  /** The only region of this server. Default: any region. */
  readonly region?: string | undefined;
  /** Default: S3. */
  readonly service?: SignedService | undefined;
}

export function readClaim(request: S3Request, options: ClaimOptions, now: number): Claim {
  const header = request.header("authorization");
  const { query } = request;
  const inQuery = query.has("X-Amz-Algorithm") || query.has("X-Amz-Signature");
  if (header !== undefined && inQuery) {
    throw new S3Error("InvalidArgument", {
      message:
        "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter or the Authorization header should be specified",
    });
  }
  if (query.has("AWSAccessKeyId") || header?.startsWith("AWS ")) throw oldSignature(options);
  const token = readToken(request, inQuery);
  if (inQuery) return claimInQuery(request, options, now, token);
  if (header === undefined) throw new S3Error("AccessDenied");
  return claimInHeader(request, header, options, now, token);
}

/** The token must be where the signature is, so that it is clear which token counts. */
function readToken({ header, query }: S3Request, inQuery: boolean): string | undefined {
  const [fromHeader, fromQuery] = [header("x-amz-security-token"), query.get("X-Amz-Security-Token")];
  if (fromHeader === undefined && fromQuery === undefined) return undefined;
  const [token, misplaced] = inQuery ? [fromQuery, fromHeader] : [fromHeader, fromQuery];
  if (misplaced === undefined) return token;
  throw new S3Error("InvalidToken", {
    message:
      "The security token must be sent once: with a presigned URL in the query, otherwise as a header.",
  });
}

/** SDKs of Python presign with version 2 if the region is us-east-1. */
export function oldSignature({ region = defaultRegion }: ClaimOptions): S3Error {
  return new S3Error("InvalidRequest", {
    message:
      "The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256: " +
      `configure the client for Signature Version 4 (in boto3 signature_version="s3v4") and the region "${region}".`,
  });
}

function claimInHeader(
  request: S3Request,
  header: string,
  options: ClaimOptions,
  now: number,
  token: string | undefined,
): Claim {
  const match = /^AWS4-HMAC-SHA256\s+(.*)$/.exec(header);
  if (match === null)
    throw /^AWS4-/.test(header)
      ? oldSignature(options)
      : new S3Error("InvalidArgument", { message: "Unsupported Authorization Type" });
  const fields = new Map(
    match[1]!.split(",", maxFields).map((field) => {
      const at = field.indexOf("=");
      return [field.slice(0, at).trim(), field.slice(at + 1).trim()] as const;
    }),
  );
  const [credential, names, signature] = ["Credential", "SignedHeaders", "Signature"].map((name) =>
    fields.get(name),
  );
  if (!credential || !names || !signature) throw new S3Error("AuthorizationHeaderMalformed");
  // The header may be absent if there is no body, because the hash of an empty body is known.
  const payload =
    options.service?.bodyHash ??
    request.header("x-amz-content-sha256") ??
    (request.http.hasBody ? undefined : emptyHash);
  if (payload === undefined) {
    throw new S3Error("InvalidRequest", {
      message: "Missing required header for this request: x-amz-content-sha256",
    });
  }
  const time = readHeaderTime(request);
  const sent = parseAmzTime(time);
  if (sent === undefined) throw noTime();
  if (Math.abs(now - sent) > skewMilliseconds) throw tooSkewed(time, now);
  const parsed = {
    credential: credential.split("/"),
    signedHeaders: splitNames(names),
    signature,
    time,
    sent,
  };
  return toClaim("header", parsed, { payload, token }, options);
}

function readHeaderTime(request: S3Request): string {
  const given = request.header("x-amz-date");
  if (given !== undefined) return given;
  // Python's email.utils formats GMT as -0000.
  const date = parseHttpDate(request.header("date")?.replace(/ [+-]0000$/, " GMT") ?? null);
  if (date === undefined) throw noTime();
  return amzTime(date);
}

function noTime(): S3Error {
  return new S3Error("AccessDenied", {
    message: "AWS authentication requires a valid Date or x-amz-date header",
  });
}

function tooSkewed(time: string, now: number): S3Error {
  return new S3Error("RequestTimeTooSkewed", {
    details: {
      RequestTime: time,
      ServerTime: new Date(now).toISOString(),
      MaxAllowedSkewMilliseconds: String(skewMilliseconds),
    },
  });
}

function claimInQuery(
  { query, header }: S3Request,
  options: ClaimOptions,
  now: number,
  token: string | undefined,
): Claim {
  const parsed = cachedQuerySignature(query);
  const { sent, milliseconds } = parsed;
  if (now > sent + milliseconds) throw new S3Error("AccessDenied", { message: "Request has expired" });
  if (sent - now > skewMilliseconds) {
    throw new S3Error("AccessDenied", { message: "Request is not valid yet" });
  }
  const payload =
    options.service?.bodyHash ?? parsed.payload ?? header("x-amz-content-sha256") ?? unsignedPayload;
  return toClaim("query", parsed, { payload, token }, options);
}

/** One name more than a request can have headers, so that the list is refused. */
function splitNames(text: string): string[] {
  return text.split(";", maxHeaderLines + 1);
}

const querySignatureCache = new WeakMap<Query, ParsedQuerySignature>();

function cachedQuerySignature(query: Query): ParsedQuerySignature {
  const cached = querySignatureCache.get(query);
  if (cached !== undefined) return cached;
  const parsed = readQueryFields(query);
  querySignatureCache.set(query, parsed);
  return parsed;
}

function readQueryFields(query: Query): ParsedQuerySignature {
  const invalidQuery = (message: string) => new S3Error("AuthorizationQueryParametersError", { message });
  if (query.get("X-Amz-Algorithm") !== algorithm) {
    throw invalidQuery('X-Amz-Algorithm only supports "AWS4-HMAC-SHA256"');
  }
  const field = (name: string) => {
    const value = query.get(name);
    if (value !== undefined && value !== "") return value;
    throw invalidQuery(
      "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.",
    );
  };
  const [expires, time] = [field("X-Amz-Expires"), field("X-Amz-Date")];
  const credential = field("X-Amz-Credential").split("/");
  const signedHeaders = splitNames(field("X-Amz-SignedHeaders"));
  const signature = field("X-Amz-Signature");
  // X-Amz-Signature is the only parameter that the signature does not cover.
  if (query.pairs.filter(([name]) => name === "X-Amz-Signature").length > 1) {
    throw invalidQuery("X-Amz-Signature must occur only once.");
  }
  const sent = parseAmzTime(time);
  if (sent === undefined) {
    throw invalidQuery("X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"");
  }
  const seconds = /^-?\d+$/.test(expires) ? Number(expires) : Number.NaN;
  if (!(seconds >= 1 && seconds <= maxExpirySeconds)) {
    throw new S3Error("AccessDenied", {
      message: `X-Amz-Expires must be a number of seconds from 1 to ${maxExpirySeconds}`,
    });
  }
  const milliseconds = seconds * 1000;
  const payload = query.get("X-Amz-Content-Sha256");
  return { credential, signedHeaders, signature, time, sent, milliseconds, payload };
}

export function malformed(form: Claim["form"], message: string, details?: Record<string, string>): S3Error {
  const code = form === "header" ? "AuthorizationHeaderMalformed" : "AuthorizationQueryParametersError";
  return new S3Error(code, { message, details });
}

function toClaim(
  form: Claim["form"],
  parsed: ParsedSignature,
  { payload, token }: Pick<Claim, "payload" | "token">,
  { region: ownRegion, service: expected = s3Service }: ClaimOptions,
): Claim {
  const { signedHeaders, signature, time } = parsed;
  const fail = (message: string, details?: Record<string, string>) => malformed(form, message, details);
  const [accessKeyId, day, region, service, end] = parsed.credential;
  if (
    parsed.credential.length !== 5 ||
    accessKeyId === undefined ||
    day === undefined ||
    region === undefined
  ) {
    throw fail("The credential must be of the form ACCESS-KEY-ID/YYYYMMDD/REGION/s3/aws4_request.");
  }
  if (/\s/.test(accessKeyId)) throw fail("The access key id in the credential must not have white space.");
  if (service !== expected.name || end !== "aws4_request") {
    throw fail(`The credential must end with "${expected.name}/aws4_request".`);
  }
  if (day !== time.slice(0, 8)) {
    throw fail(
      `The date in the credential, ${day}, differs from the date of the request, ${time.slice(0, 8)}.`,
    );
  }
  if (!isAcceptedRegion(region, ownRegion)) {
    const expectedRegion = ownRegion ?? defaultRegion;
    throw fail(`The region "${region}" is wrong; expecting "${expectedRegion}"`, { Region: expectedRegion });
  }
  return {
    form,
    accessKeyId,
    scope: { day, region, service },
    signedHeaders,
    signature,
    time,
    payload,
    token,
  };
}
