// Authenticates a request by its Signature Version 4, in the Authorization header or in the query.
// Every other scheme is refused.
import { timingSafeEqual } from "node:crypto";
import type { Caller } from "../../access/decide.ts";
import { canonicalText, type Scope, sign, signingKey, stringToSign } from "../../http/sigv4.ts";
import { S3Error } from "../errors.ts";
import type { Query, S3Request } from "../request.ts";
import { findSigner, type SignerOptions } from "./find-signer.ts";
import { type Claim, type ClaimOptions, malformed, readClaim } from "./signature-claim.ts";

/** Key, scope and seed signature for the chain of chunk signatures of an aws-chunked body. */
export interface SigningContext {
  readonly key: Uint8Array;
  readonly scope: Scope;
  readonly time: string;
  readonly signature: string;
}

export interface Authentication {
  readonly caller: Caller;
  /** Value of x-amz-content-sha256: a hash, UNSIGNED-PAYLOAD, or one of the STREAMING forms. */
  readonly payload: string;
  /** Undefined for an anonymous caller. */
  readonly signing: SigningContext | undefined;
}

export interface AuthenticateOptions extends SignerOptions, ClaimOptions {
  /** Called for every request whose signature is valid. */
  readonly onKeyUsed?: ((accessKeyId: string) => void) | undefined;
}

export async function authenticate(
  request: S3Request,
  options: AuthenticateOptions,
): Promise<Authentication> {
  const claim = readClaim(request, options, options.now());
  const { accessKeyId, scope, payload, time, signature } = claim;
  const address = () => request.http.address();
  const signer = await findSigner(options, address, claim);
  const { text, canonical } = signedTexts(request, claim, signedHeaders(request, claim));
  for (const secret of signer.secrets) {
    const key = cachedKey(secret, scope);
    if (constantTimeEqual(sign(key, text), signature)) {
      options.onKeyUsed?.(signer.accessKeyId);
      return { caller: signer, payload, signing: { key, scope, time, signature } };
    }
  }
  options.failures?.record(address, signer.accessKeyId);
  throw new S3Error("SignatureDoesNotMatch", {
    details: {
      AWSAccessKeyId: accessKeyId,
      StringToSign: text,
      SignatureProvided: signature,
      CanonicalRequest: canonical,
    },
  });
}

/** Headers with these prefixes change what a request means. */
const isMeaningful = (name: string) => name.startsWith("x-amz-") || name.startsWith("x-store-");

/** Returns the signed headers. Throws if Host or a header that changes the request is not signed. */
function signedHeaders(
  request: S3Request,
  { form, payload, signedHeaders: names }: Claim,
): [string, string][] {
  const { rawHeaders } = request.http;
  const values = new Map<string, string>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    const value = rawHeaders[i + 1]!.trim();
    const previous = values.get(name);
    if (previous !== undefined && name === "authorization") throw secondAuthorization();
    values.set(name, previous === undefined ? value : `${previous},${value}`);
  }
  const signedNames = new Set(names);
  // A repeated name would hash its value again: 60 KiB of headers could become hundreds of MiB.
  if (signedNames.size !== names.length) throw malformed(form, "SignedHeaders must list each header once.");
  const unsigned = [...values.keys()].filter((name) => isMeaningful(name) && !signedNames.has(name));
  if (!signedNames.has("host")) unsigned.push("host");
  // The canonical request of a presigned URL has the value of this header as its payload.
  const isCovered = (name: string) => name === "x-amz-content-sha256" && values.get(name) === payload;
  const refusedNames = form === "query" ? unsigned.filter((name) => !isCovered(name)) : unsigned;
  if (refusedNames.length > 0) {
    throw new S3Error("AccessDenied", {
      message: "There were headers present in the request which were not signed",
      details: { HeadersNotSigned: refusedNames.join(", ") },
    });
  }
  return names.map((name) => [name, values.get(name) ?? ""]);
}

/** Two Authorization headers are refused: a proxy may have checked the other one. */
function secondAuthorization(): S3Error {
  return new S3Error("InvalidArgument", { message: "Only one Authorization header is allowed." });
}

interface SignedTexts {
  readonly method: string;
  readonly payload: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly canonical: string;
  /** The "string to sign" of Signature Version 4. */
  readonly text: string;
}

/** Texts of the last request with each presigned query. The signature is never cached. */
const lastTexts = new WeakMap<Query, SignedTexts>();
const maxCachedLength = 4096;

function signedTexts(
  { method, query, canonicalPath: path }: S3Request,
  { form, scope, time, payload }: Claim,
  headers: readonly (readonly [string, string])[],
): SignedTexts {
  const last = form === "query" ? lastTexts.get(query) : undefined;
  const isSame =
    last?.method === method &&
    last.payload === payload &&
    last.headers.every(([, value], i) => value === headers[i]![1]);
  if (isSame) return last;
  const canonical = canonicalText({ method, path, query: query.canonical(), headers, payloadHash: payload });
  const texts = { method, payload, headers, canonical, text: stringToSign(time, scope, canonical) };
  if (form === "query" && canonical.length <= maxCachedLength) lastTexts.set(query, texts);
  return texts;
}

/** Cached signing keys by day, region, service and secret: deriving a key takes four hashes. */
const keys = new Map<string, Buffer>();

export function cachedKey(secret: string, scope: Scope): Buffer {
  const name = `${scope.day}/${scope.region}/${scope.service}/${secret}`;
  const cached = keys.get(name);
  if (cached !== undefined) return cached;
  if (keys.size >= 1000) keys.clear();
  const key = signingKey(secret, scope);
  keys.set(name, key);
  return key;
}

export function constantTimeEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
