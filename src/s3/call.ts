// Input and output of an operation: an authorized call whose body is not read yet, and a response.

import type { Caller } from "../access/decide.ts";
import { toOwner } from "../access/keys/credentials.ts";
import type { Engine } from "../engine/engine.ts";
import type { NotificationRules } from "../events/rules.ts";
import type { HttpBody } from "../http/server/listen.ts";
import type { Bucket } from "../model/bucket.ts";
import type { Payload } from "./body/payload.ts";
import { type XmlElement, type XmlValue, xmlDocument } from "./body/xml-writer.ts";
import type { Operation } from "./operation.ts";
import type { S3Request } from "./request.ts";

export interface Call {
  readonly engine: Engine;
  readonly request: S3Request;
  readonly operation: Operation;
  readonly caller: Caller;
  /** The bucket that the caller may use; undefined for operations on the account. */
  readonly bucket: Bucket | undefined;
  /** False if the caller may create objects but not overwrite them. */
  readonly canOverwrite: boolean;
  readonly payload: Payload;
  /** The only region of this server. Default: any region. */
  readonly configuredRegion: string | undefined;
  readonly blocksPublicAccess?: boolean | undefined;
  /** Changes the notification rules of buckets. */
  readonly notifications?: Pick<NotificationRules, "replace"> | undefined;
  /** The clock, in milliseconds since the epoch. */
  readonly now: () => number;
}

export interface S3Response {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: HttpBody;
}

export type OperationHandler = (call: Call) => Promise<S3Response>;

export function answer(
  status: number,
  headers: readonly (readonly [string, string])[] = [],
  body: HttpBody = null,
): S3Response {
  return { status, headers, body };
}

export function answerXml(
  name: string,
  value: XmlValue,
  headers: readonly (readonly [string, string])[] = [],
): S3Response {
  return answer(200, [["content-type", "application/xml"], ...headers], xmlDocument(name, value));
}

/** Returns the content of an Owner, Initiator or Grantee element. */
export function ownerElements(account: string): XmlElement[] {
  const { id, displayName } = toOwner(account);
  return [
    ["ID", id],
    ["DisplayName", displayName],
  ];
}

export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

export function httpTime(milliseconds: number): string {
  return new Date(milliseconds).toUTCString();
}

export function quoteEtag(etag: string): string {
  return `"${etag}"`;
}

/** Names temporary credentials with the access key or role that they belong to. */
export function loggedId({ accessKeyId, temporaryId, isAnonymous }: Caller): string | undefined {
  if (isAnonymous === true) return undefined;
  return temporaryId === undefined ? accessKeyId : `${accessKeyId}/${temporaryId}`;
}
