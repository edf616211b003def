// Parses the content of a session token. An unknown field is refused, because it may be a limit that
// a later version added.
import { isFields, isList, isOptional, isText } from "../../model/shape.ts";
import { type Grant, type Right, rights } from "../grants.ts";
import { maxPackedLength } from "./session-policy.ts";

export interface TokenContent {
  /** The temporary access key id. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly issued: number;
  readonly expires: number;
  /** Undefined: all that the issuer may do. */
  readonly grants: readonly Grant[] | undefined;
  readonly operations: readonly string[] | undefined;
  readonly session: RoleSession | undefined;
  /** The policy of the session, packed. */
  readonly policy: string | undefined;
}

/** The session of a role that a client has assumed. */
export interface RoleSession {
  /** Name that the client chose, for logs. */
  readonly name: string;
  /** Creation time of the role, so that a later role of the same name does not count. */
  readonly roleCreated: number;
  /** The access key that assumed the role; absent for an ID token. */
  readonly source?: string;
}

const fieldNames: ReadonlySet<string> = new Set([
  ...["exp", "grants", "iat", "id", "operations", "policy", "session"],
]);
const sessionNames: ReadonlySet<string> = new Set(["name", "roleCreated", "source"]);
const grantNames: ReadonlySet<string> = new Set(["bucket", "object", "prefix", "rights"]);
const maxGrants = 100;
const maxOperations = 100;
/** S3 limits keys to 1,024 bytes. */
const maxKeyLength = 1024;

export function parseTokenContent(json: string): TokenContent | undefined {
  const value = parseJson(json);
  if (!isFields(value) || !hasOnly(value, fieldNames)) return undefined;
  const { exp, grants, iat, id, operations, policy, session } = value;
  if (!isText(id, 64) || !isSeconds(iat) || !isSeconds(exp) || exp <= iat) return undefined;
  if (!Number.isInteger(exp)) return undefined;
  if (grants !== undefined && !isList(grants, maxGrants, isGrant)) return undefined;
  if (operations !== undefined && !isList(operations, maxOperations, isOperation)) return undefined;
  if (operations !== undefined && grants === undefined) return undefined;
  if (session !== undefined && !isSession(session)) return undefined;
  if (policy !== undefined && !isText(policy, maxPackedLength)) return undefined;
  const times = { issued: Math.round(iat * 1000), expires: exp * 1000 };
  return { id, ...times, grants, operations, session, policy };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function hasOnly(fields: object, names: ReadonlySet<string>): boolean {
  return Object.keys(fields).every((name) => names.has(name));
}

function isSeconds(value: unknown): value is number {
  return typeof value === "number" && value > 0 && value < 1e11;
}

function isGrant(value: unknown): value is Grant {
  if (!isFields(value) || !hasOnly(value, grantNames)) return false;
  const { bucket, object, prefix, rights: given } = value;
  if (!isText(bucket, 64) || bucket === "") return false;
  if (object !== undefined && (prefix !== undefined || !isText(object, maxKeyLength) || object === ""))
    return false;
  if (prefix !== undefined && !isText(prefix, maxKeyLength)) return false;
  return isList(given, rights.length, isRight) && given.length > 0;
}

function isRight(value: unknown): value is Right {
  return rights.some((right) => right === value);
}

function isOperation(value: unknown): value is string {
  return isText(value, 64);
}

function isKeyId(value: unknown): value is string {
  return isText(value, 128) && value !== "";
}

function isSession(value: unknown): value is RoleSession {
  if (!isFields(value) || !hasOnly(value, sessionNames)) return false;
  const { name, roleCreated, source } = value;
  return isText(name, 64) && Number.isSafeInteger(roleCreated) && isOptional(source, isKeyId);
}
