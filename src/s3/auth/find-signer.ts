// Finds who may have signed a request: an access key, or temporary credentials by their session
// token.
import type { Caller } from "../../access/decide.ts";
import type { Credential, Credentials } from "../../access/keys/credentials.ts";
import type { Roles } from "../../access/temporary/roles.ts";
import type { UnverifiedToken } from "../../access/temporary/token.ts";
import { type TokenVerifier, tokenFault } from "../../access/temporary/verify.ts";
import { S3Error } from "../errors.ts";
import type { FailedSignatures } from "./failed-signatures.ts";

/** A caller whose signature is not verified yet. */
export interface Signer extends Caller {
  /** Secrets that are accepted now, newest first. */
  readonly secrets: readonly string[];
}

export interface SignerOptions {
  readonly credentials: Pick<Credentials, "find">;
  readonly tokens: TokenVerifier;
  /** If undefined, there are no roles. */
  readonly roles?: Pick<Roles, "find" | "signingSecret"> | undefined;
  readonly now: () => number;
  /** If undefined, wrong signatures are not counted. */
  readonly failures?: FailedSignatures | undefined;
}

/** Throws SlowDown after too many failures. */
export function findSigner(
  options: SignerOptions,
  address: () => string,
  { accessKeyId, token }: { readonly accessKeyId: string; readonly token: string | undefined },
): Promise<Signer> {
  if (token === undefined) return findActiveCredential(options, address, accessKeyId);
  return findTokenSigner(options, address, accessKeyId, token);
}

async function findTokenSigner(
  options: SignerOptions,
  address: () => string,
  accessKeyId: string,
  token: string,
): Promise<Signer> {
  const unverified = options.tokens.read(token);
  // Count failures of all tokens of an issuer together: the client chooses the temporary id.
  const subject = unverified?.issuer ?? accessKeyId;
  options.failures?.check(address, subject);
  try {
    if (unverified === undefined) throw invalidToken();
    return await findTemporarySigner(options, unverified, accessKeyId);
  } catch (error) {
    if (error instanceof S3Error && error.status < 500) options.failures?.record(address, subject);
    throw error;
  }
}

async function findActiveCredential(
  { credentials, failures }: SignerOptions,
  address: () => string,
  accessKeyId: string,
): Promise<Credential> {
  failures?.check(address, accessKeyId);
  const credential = await credentials.find(accessKeyId);
  if (credential?.state !== "active") failures?.record(address, accessKeyId);
  return requireActive(accessKeyId, credential);
}

function requireActive(accessKeyId: string, credential: Credential | undefined): Credential {
  if (credential?.state === "active") return credential;
  const message =
    credential === undefined ? undefined : `The access key ID you provided is ${credential.state}.`;
  throw new S3Error("InvalidAccessKeyId", { message, details: { AWSAccessKeyId: accessKeyId } });
}

async function findTemporarySigner(
  options: SignerOptions,
  token: UnverifiedToken,
  accessKeyId: string,
): Promise<Signer> {
  const { credentials, tokens, now } = options;
  const issuer = await findIssuer(options, token, accessKeyId);
  const verified = tokens.verify(token, issuer.secrets);
  if (verified === undefined) throw invalidToken();
  const { content, scope, secrets } = verified;
  if (content.id !== accessKeyId) throw invalidToken();
  if (content.session?.roleCreated !== issuer.roleCreated) throw roleGone();
  const fault = tokenFault(content, now());
  if (fault === "expired") throw new S3Error("ExpiredToken");
  if (fault === "invalid") throw invalidToken();
  const { account, grants } = issuer;
  const source = content.session?.source;
  // A key that was disabled or deleted does not go on as a role.
  const { limits } = source === undefined ? issuer : requireActive(source, await credentials.find(source));
  const caller = { accessKeyId: token.issuer, account, grants, limits, source, scope };
  return { ...caller, temporaryId: content.id, secrets };
}

interface IssuerState extends Pick<Caller, "account" | "grants" | "limits"> {
  readonly secrets: readonly string[];
  /** Undefined for access keys. */
  readonly roleCreated?: number;
}

const rolePrefix = "role:";

async function findIssuer(
  { credentials, roles }: SignerOptions,
  { issuer }: UnverifiedToken,
  accessKeyId: string,
): Promise<IssuerState> {
  if (!issuer.startsWith(rolePrefix)) return requireActive(accessKeyId, await credentials.find(issuer));
  const role = await roles?.find(issuer.slice(rolePrefix.length));
  if (role === undefined || roles === undefined) throw roleGone();
  const { account, grants, created } = role;
  return { account, grants, secrets: [await roles.signingSecret()], roleCreated: created };
}

export function isRoleCaller({ accessKeyId }: Caller): boolean {
  return accessKeyId.startsWith(rolePrefix);
}

/** The same answer for every fault, so that it does not help a forger. */
function invalidToken(): S3Error {
  return new S3Error("InvalidToken");
}

function roleGone(): S3Error {
  return new S3Error("InvalidAccessKeyId", { message: "The role of these credentials no longer exists." });
}
