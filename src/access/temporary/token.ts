// The session token of temporary credentials: what they may do and until when, signed with the
// secret of its issuer. The token contains no secret, and the server stores nothing about it.
import { Buffer } from "node:buffer";
import { createHmac, randomBytes } from "node:crypto";
import type { Grant } from "../grants.ts";
import { PolicyError } from "../policy/policy.ts";
import { maxPolicyCharacters, type PackedPolicy, packPolicy } from "./session-policy.ts";
import { parseTokenContent, type TokenContent } from "./token-content.ts";

/** The access key or the role that temporary credentials belong to. */
export interface Issuer {
  /** An access key id, or `role:` and the name of a role. */
  readonly id: string;
  readonly secret: string;
}

export interface NewTemporaryCredentials {
  /** What the credentials may do. Undefined: all that their issuer may do. */
  readonly grants?: readonly Grant[] | undefined;
  /** Names of the permitted S3 operations; only with `grants`. Undefined: all that the grants allow. */
  readonly operations?: readonly string[] | undefined;
  /** JSON of a policy that must allow each request too, in the form of AWS and without principals. */
  readonly policy?: string | undefined;
  readonly lifetimeSeconds: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The session of a role. */
  readonly session?: TokenContent["session"];
}

export interface TemporaryCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  /** Size of the packed policy, in percent of what a session token can carry. */
  readonly packedPolicyPercent: number;
}

/** Invalid settings of temporary credentials. The message is for the user. */
export class TemporaryCredentialsError extends Error {
  override readonly name = "TemporaryCredentialsError";
}

/** The policy of a session is not valid. */
export class SessionPolicyError extends TemporaryCredentialsError {
  readonly flaw: "length" | "malformed" | "too large";

  constructor(flaw: SessionPolicyError["flaw"], message: string) {
    super(message);
    this.flaw = flaw;
  }
}

export const maxTokenLength = 4096;
export const maxLifetimeSeconds = 7 * 24 * 3600;

const version = "ST1";
const tokenShape = /^ST1\.([A-Za-z0-9_-]{4,220})\.([A-Za-z0-9_-]{2,3800})\.([A-Za-z0-9_-]{43})$/;

/** Needs only the secret of the issuer, not the server. */
export function createTemporaryCredentials(
  issuer: Issuer,
  options: NewTemporaryCredentials,
): TemporaryCredentials {
  const { grants, operations, lifetimeSeconds, now, session, policy: policyText } = options;
  if (!Number.isInteger(lifetimeSeconds) || lifetimeSeconds < 1 || lifetimeSeconds > maxLifetimeSeconds) {
    throw new TemporaryCredentialsError(
      `Temporary credentials must expire after 1 to ${maxLifetimeSeconds} seconds (7 days).`,
    );
  }
  const accessKeyId = newTemporaryId();
  const expires = Math.floor(now / 1000) + lifetimeSeconds;
  // With milliseconds: a bucket that is created later in the same second is another bucket.
  const content = { exp: expires, grants: grants?.map(toPlainGrant), iat: now / 1000, id: accessKeyId };
  const policy = policyText === undefined ? undefined : pack(policyText);
  const json = JSON.stringify({ ...content, operations, policy: policy?.packed, session });
  if (parseTokenContent(json) === undefined) {
    throw new TemporaryCredentialsError(
      "The grants are not valid: each needs a bucket, at least one right, and not both a prefix and a key.",
    );
  }
  const body = `${version}.${encode(issuer.id)}.${encode(json)}`;
  const sessionToken = `${body}.${macOf(issuer.secret, body)}`;
  if (sessionToken.length > maxTokenLength) {
    throw new TemporaryCredentialsError(
      "The grants and the policy are too long for a session token: use fewer prefixes and keys, or shorter ones.",
    );
  }
  const secretAccessKey = deriveSecret(issuer.secret, body);
  const packedPolicyPercent = policy?.percent ?? 0;
  return { accessKeyId, secretAccessKey, sessionToken, expires: expires * 1000, packedPolicyPercent };
}

function pack(text: string): PackedPolicy {
  if (text === "" || text.length > maxPolicyCharacters)
    throw new SessionPolicyError("length", `The policy must have 1 to ${maxPolicyCharacters} characters.`);
  let policy: PackedPolicy;
  try {
    policy = packPolicy(text);
  } catch (error) {
    throw error instanceof PolicyError ? new SessionPolicyError("malformed", error.message) : error;
  }
  if (policy.percent <= 100) return policy;
  throw new SessionPolicyError(
    "too large",
    `The packed policy has ${policy.percent} % of the size that a session token can carry: shorten it.`,
  );
}

/** A token whose signature is not verified yet. */
export interface UnverifiedToken {
  readonly text: string;
  readonly issuer: string;
  readonly body: string;
  readonly mac: string;
}

/** Splits a token without decoding its content. Undefined if it does not look like a token. */
export function splitToken(text: string): UnverifiedToken | undefined {
  if (text.length > maxTokenLength) return undefined;
  const match = tokenShape.exec(text);
  if (match === null) return undefined;
  const issuer = Buffer.from(match[1]!, "base64url").toString("utf8");
  const mac = match[3]!;
  return { text, issuer, body: text.slice(0, -mac.length - 1), mac };
}

/** The signature, which a client cannot compute without the secret of the issuer. */
export function macOf(secret: string, body: string): string {
  return hmac(hmac(secret, "store temporary credentials: token"), body).toString("base64url");
}

/** Bound to the whole token, so that a changed token has another secret. */
export function deriveSecret(secret: string, body: string): string {
  return hmac(hmac(secret, "store temporary credentials: secret"), body).toString("base64url");
}

function hmac(key: Uint8Array | string, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64url");
}

function toPlainGrant({ bucket, object, prefix, rights }: Grant): Grant {
  return { bucket, ...(object === undefined ? {} : { object }), ...(prefix ? { prefix } : {}), rights };
}

function newTemporaryId(): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  return `TEMP${Array.from(randomBytes(16), (byte) => alphabet[byte & 31]).join("")}`;
}
