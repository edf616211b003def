// The actions of STS: AssumeRole, AssumeRoleWithWebIdentity, GetSessionToken and GetCallerIdentity.
import type { Caller } from "../../access/decide.ts";
import type { Credentials } from "../../access/keys/credentials.ts";
import { type Role, type Roles, roleSeconds } from "../../access/temporary/roles.ts";
import {
  createTemporaryCredentials,
  SessionPolicyError,
  type TemporaryCredentials,
} from "../../access/temporary/token.ts";
import type { RoleSession } from "../../access/temporary/token-content.ts";
import { isRoleCaller } from "../auth/find-signer.ts";
import type { XmlElement } from "../body/xml-writer.ts";
import { isoTime } from "../call.ts";
import { StsError, type StsErrorCode } from "./errors.ts";
import {
  readDuration,
  readRoleName,
  readSessionName,
  refuseUnsupported,
  type StsParameters,
} from "./parameters.ts";
import { denied, type VerifyWebIdentity } from "./web-identity.ts";

export const stsActions = [
  "AssumeRole",
  "AssumeRoleWithWebIdentity",
  "GetCallerIdentity",
  "GetSessionToken",
] as const;
export type StsAction = (typeof stsActions)[number];

export interface StsContext {
  readonly roles: Roles;
  readonly credentials: Pick<Credentials, "find">;
  readonly verifyWebIdentity: VerifyWebIdentity;
  readonly now: () => number;
}

export interface StsResult {
  readonly elements: readonly XmlElement[];
  /** New credentials, for the audit log. */
  readonly issued?: { readonly subject: string; readonly detail: string; readonly by?: string | undefined };
}

export async function assumeRole(
  { roles, now }: StsContext,
  caller: Caller,
  parameters: StsParameters,
): Promise<StsResult> {
  refuseUnsupported(parameters, { isPolicyRead: true });
  const [name, session] = [readRoleName(parameters), readSessionName(parameters)];
  const role = await roles.find(name);
  // The same answer for an unknown role, so that callers cannot find out which roles exist.
  if (role === undefined || !isTrusted(role, caller)) {
    throw new StsError("AccessDenied", `Not authorized to perform: sts:AssumeRole on the role ${name}`);
  }
  const made = await issue(roles, role, parameters, {
    session: { name: session, roleCreated: role.created, source: caller.accessKeyId },
    seconds: roleDuration(parameters, role),
    now: now(),
  });
  return {
    elements: [credentialsElement(made), assumedElement(role, session, made), packedSize(made)],
    issued: { subject: `role:${name}`, detail: session },
  };
}

/** Temporary credentials cannot assume a role, because their limits would end there. */
function isTrusted({ trust }: Role, { accessKeyId, account, grants, temporaryId }: Caller): boolean {
  if (temporaryId !== undefined) return false;
  return trust.keys.includes(accessKeyId) || (grants === undefined && trust.accounts.includes(account));
}

export async function assumeRoleWithWebIdentity(
  { roles, verifyWebIdentity, now }: StsContext,
  parameters: StsParameters,
): Promise<StsResult> {
  refuseUnsupported(parameters, { isPolicyRead: true });
  const [name, session] = [readRoleName(parameters), readSessionName(parameters)];
  const token = parameters.require("WebIdentityToken");
  const role = await roles.find(name);
  if (role === undefined) throw new StsError("AccessDenied", denied);
  const seconds = roleDuration(parameters, role);
  const { issuer, subject, audience } = await verifyWebIdentity(role, token);
  const made = await issue(roles, role, parameters, {
    session: { name: session, roleCreated: role.created },
    seconds,
    now: now(),
  });
  return {
    elements: [
      credentialsElement(made),
      ["SubjectFromWebIdentityToken", subject],
      assumedElement(role, session, made),
      packedSize(made),
      ["Provider", issuer],
      ["Audience", audience[0] ?? ""],
    ],
    issued: { subject: `role:${name}`, detail: session, by: `${issuer} ${subject}`.slice(0, 256) },
  };
}

export async function getSessionToken(
  { credentials, now }: StsContext,
  caller: Caller,
  parameters: StsParameters,
): Promise<StsResult> {
  refuseUnsupported(parameters, { isPolicyRead: false });
  const key = caller.temporaryId === undefined ? await credentials.find(caller.accessKeyId) : undefined;
  if (key === undefined)
    throw new StsError("AccessDenied", "Cannot call GetSessionToken with session credentials");
  const lifetimeSeconds = readDuration(parameters, { min: 900, max: 36 * 3600, fallback: 12 * 3600 });
  const issuer = { id: key.accessKeyId, secret: key.secretAccessKey };
  const made = createTemporaryCredentials(issuer, { lifetimeSeconds, now: now() });
  return {
    elements: [credentialsElement(made)],
    issued: { subject: key.accessKeyId, detail: made.accessKeyId },
  };
}

export function getCallerIdentity(caller: Caller): StsResult {
  const { account, accessKeyId, temporaryId } = caller;
  const arn = isRoleCaller(caller)
    ? `arn:aws:sts::${account}:assumed-role/${accessKeyId.slice("role:".length)}/${temporaryId}`
    : `arn:aws:iam::${account}:user/${accessKeyId}`;
  const elements: XmlElement[] = [
    ["Arn", arn],
    ["UserId", temporaryId === undefined ? accessKeyId : `${accessKeyId}:${temporaryId}`],
    ["Account", account],
  ];
  return { elements };
}

function roleDuration(parameters: StsParameters, { maxDurationSeconds }: Role): number {
  const { min, default: fallback } = roleSeconds;
  return readDuration(parameters, { min, max: maxDurationSeconds, fallback });
}

/** The credentials have the grants of the role at the time of each request. */
async function issue(
  roles: Roles,
  { name }: Role,
  parameters: StsParameters,
  {
    session,
    seconds,
    now,
  }: { readonly session: RoleSession; readonly seconds: number; readonly now: number },
): Promise<TemporaryCredentials> {
  const issuer = { id: `role:${name}`, secret: await roles.signingSecret() };
  const policy = parameters.get("Policy");
  try {
    return createTemporaryCredentials(issuer, { lifetimeSeconds: seconds, now, session, policy });
  } catch (error) {
    throw error instanceof SessionPolicyError ? invalidPolicy(error) : error;
  }
}

/** Begins as AWS does, because clients look for that. */
function invalidPolicy({ flaw, message }: SessionPolicyError): StsError {
  const text = flaw === "malformed" ? `Syntax errors in policy. ${message}` : message;
  return new StsError(policyErrors[flaw], text);
}

const policyErrors = {
  length: "ValidationError",
  malformed: "MalformedPolicyDocument",
  "too large": "PackedPolicyTooLarge",
} as const satisfies Readonly<Record<SessionPolicyError["flaw"], StsErrorCode>>;

function packedSize({ packedPolicyPercent }: TemporaryCredentials): XmlElement {
  return ["PackedPolicySize", packedPolicyPercent];
}

function credentialsElement(made: TemporaryCredentials): XmlElement {
  return [
    "Credentials",
    [
      ["AccessKeyId", made.accessKeyId],
      ["SecretAccessKey", made.secretAccessKey],
      ["SessionToken", made.sessionToken],
      ["Expiration", isoTime(made.expires)],
    ],
  ];
}

function assumedElement(
  { name, account }: Role,
  session: string,
  { accessKeyId }: TemporaryCredentials,
): XmlElement {
  return [
    "AssumedRoleUser",
    [
      ["AssumedRoleId", `${accessKeyId}:${session}`],
      ["Arn", `arn:aws:sts::${account}:assumed-role/${name}/${session}`],
    ],
  ];
}
