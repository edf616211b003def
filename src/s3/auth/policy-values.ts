// The values of a request for the conditions of a bucket policy.
import type { Caller } from "../../access/decide.ts";
import { headerOfKey, tagKeys } from "../../access/policy/condition-keys.ts";
import type { FindValues } from "../../access/policy/conditions.ts";
import { anonymousUserId } from "../../access/policy/public-status.ts";
import { maxValueLength } from "../../access/policy/work.ts";
import type { HttpRequest } from "../../http/server/listen.ts";
import { unsignedPayload } from "../../http/sigv4.ts";
import type { OperationName } from "../operation-rights.ts";
import type { S3Request } from "../request.ts";
import { parseTagHeader } from "../tag-header.ts";

/** What conditions use of a request. */
export interface ConditionSource extends Pick<S3Request, "header" | "query"> {
  readonly http: Pick<HttpRequest, "address" | "scheme">;
}

export interface RequestValues {
  readonly caller: Caller;
  readonly request: ConditionSource;
  readonly operation: OperationName;
  /** Prefix of a listing. */
  readonly prefix?: string | undefined;
  readonly version?: string | undefined;
  /** Tags that the request sets, if they are not in a header. */
  readonly requestTags?: ReadonlyMap<string, string> | undefined;
  /** Tags of the existing object. */
  readonly existingTags?: ReadonlyMap<string, string> | undefined;
  readonly now: () => number;
}

export function createFindValues(given: RequestValues): FindValues {
  let parsedTags: ReadonlyMap<string, string> | undefined;
  const requestTags = () => {
    parsedTags ??= given.requestTags ?? parseTagHeader(given.request.header("x-amz-tagging") ?? "");
    return parsedTags;
  };
  return (key) => {
    if (key.startsWith(tagKeys.existing)) {
      return toList(given.existingTags?.get(key.slice(tagKeys.existing.length)));
    }
    if (key.startsWith(tagKeys.requested)) {
      return toList(requestTags().get(key.slice(tagKeys.requested.length)));
    }
    if (key === "s3:requestobjecttagkeys") return [...requestTags().keys()];
    if (key === "s3:x-amz-copy-source") return findCopySource(given);
    if (key === "s3:x-amz-content-sha256") return toList(findPayloadHash(given));
    const header = headerOfKey(key);
    return toList(header === undefined ? findValue(key, given) : given.request.header(header));
  };
}

function toList(value: string | undefined): readonly string[] | undefined {
  return value === undefined ? undefined : [value];
}

/** `bucket/key` and `/bucket/key` name the same source: a policy may have either. */
function findCopySource({ request }: RequestValues): readonly string[] | undefined {
  const header = request.header("x-amz-copy-source");
  if (header === undefined) return undefined;
  // Too long to be compared, so it is not decoded.
  if (header.length > maxValueLength) return [header];
  const [path, version] = header.split("?", 2);
  const source = decodeSource(path!).replace(/^\//, "") + (version === undefined ? "" : `?${version}`);
  return [source, `/${source}`];
}

/** A presigned URL has the value in its query, or leaves it out, which means an unsigned payload. */
function findPayloadHash({ request: { header, query } }: RequestValues): string | undefined {
  const given = header("x-amz-content-sha256") ?? query.get("X-Amz-Content-Sha256");
  return given ?? (query.has("X-Amz-Signature") ? unsignedPayload : undefined);
}

function decodeSource(path: string): string {
  try {
    return decodeURIComponent(Buffer.from(path, "latin1").toString("utf8").replaceAll("+", "%20"));
  } catch {
    return path;
  }
}

function findValue(key: string, given: RequestValues): string | undefined {
  const { caller, request } = given;
  const isKnown = caller.isAnonymous !== true;
  switch (key) {
    case "aws:sourceip":
      return request.http.address() || undefined;
    case "aws:securetransport":
      return String(request.http.scheme === "https");
    case "aws:currenttime":
      return new Date(given.now()).toISOString();
    case "aws:epochtime":
      return String(Math.floor(given.now() / 1000));
    case "aws:referer":
      return request.header("referer");
    case "aws:useragent":
      return request.header("user-agent");
    case "aws:principalarn":
      return isKnown ? `arn:aws:iam::${caller.account}:user/${caller.accessKeyId}` : undefined;
    case "aws:principalaccount":
      return isKnown ? caller.account : undefined;
    case "aws:userid":
      return isKnown ? caller.accessKeyId : anonymousUserId;
    case "aws:username":
      return isKnown ? caller.accessKeyId : undefined;
    default:
      return findS3Value(key, given);
  }
}

function findS3Value(key: string, { request, operation, ...given }: RequestValues): string | undefined {
  const { header, query } = request;
  switch (key) {
    case "s3:authtype":
      if (operation === "PostObject") return "POST";
      if (query.has("X-Amz-Signature")) return "REST-QUERY-STRING";
      return header("authorization") === undefined ? undefined : "REST-HEADER";
    case "s3:signatureversion":
      return given.caller.isAnonymous === true ? undefined : "AWS4-HMAC-SHA256";
    case "s3:prefix":
      return given.prefix;
    case "s3:delimiter":
      return query.get("delimiter");
    case "s3:max-keys":
      return query.get("max-keys");
    case "s3:versionid":
      return given.version;
    case "s3:object-lock-mode":
      return header("x-amz-object-lock-mode");
    case "s3:object-lock-legal-hold":
      return header("x-amz-object-lock-legal-hold");
    case "s3:object-lock-retain-until-date":
      return header("x-amz-object-lock-retain-until-date");
    default:
      return undefined;
  }
}
