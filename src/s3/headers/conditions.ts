// Reads condition headers, and builds the responses to failed conditions.
import { conditionFromHeaders, parseHttpDate } from "../../http/headers.ts";
import { refusedReadStatus } from "../../http/status.ts";
import type { Clause, Condition } from "../../model/condition.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { answer, type Call, httpTime, quoteEtag, type S3Response } from "../call.ts";
import { S3Error } from "../errors.ts";
import type { S3Request } from "../request.ts";

const names: Readonly<Record<Clause, string>> = {
  etagMatches: "If-Match",
  etagDoesNotMatch: "If-None-Match",
  uploadedBefore: "If-Unmodified-Since",
  uploadedAfter: "If-Modified-Since",
  uploadedAt: "x-amz-if-match-last-modified-time",
  size: "x-amz-if-match-size",
};

const readConditionHeaders = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"];

/** Reads the condition of a read. For the source of a copy, the header names have a prefix. */
export function readCondition(request: S3Request, prefix = ""): Condition | undefined {
  if (readConditionHeaders.every((name) => request.header(prefix + name) === undefined)) return undefined;
  return parseCondition((name) => request.header(prefix + name));
}

/** Reads the condition of a write: If-Match and If-None-Match; date conditions are for reads. */
export function writeCondition(request: S3Request): Condition | undefined {
  if (request.header("if-match") === undefined && request.header("if-none-match") === undefined) {
    return undefined;
  }
  return parseCondition((name) => (name.endsWith("-since") ? undefined : request.header(name)));
}

/** The condition that the write removes no object. */
export const createOnly: Condition = {
  ...parseCondition((name) => (name === "if-none-match" ? "*" : undefined)),
  removesNothing: true,
};

/** Like `writeCondition`; a caller who may only create objects cannot replace one. */
export function readWriteCondition({ request, canOverwrite }: Call): Condition | undefined {
  if (canOverwrite) return writeCondition(request);
  // Replacing an object with a known etag is always an overwrite.
  if (request.header("if-match") !== undefined) throw cannotOverwrite();
  return createOnly;
}

/** The error of a write that the condition of `readWriteCondition` refused. */
export function refusedWrite({ request, canOverwrite }: Call, clause: Clause): S3Error {
  const isOwnCondition = request.header("if-none-match") !== undefined;
  return canOverwrite || isOwnCondition ? preconditionFailed(clause) : cannotOverwrite();
}

/** A caller who may only create objects may use only the uploads that it created. */
export function uploadInitiator({ canOverwrite, caller }: Call): string | undefined {
  return canOverwrite ? undefined : caller.accessKeyId;
}

export function cannotOverwrite(): S3Error {
  return new S3Error("AccessDenied", {
    message:
      "Access Denied: the object exists, and this access key may create objects but not overwrite them.",
  });
}

/** Reads the condition of a delete: like a write, plus the object's date and size. */
export function deleteCondition(request: S3Request): Condition | undefined {
  const { header } = request;
  return withIdentity(writeCondition(request), {
    time: header("x-amz-if-match-last-modified-time"),
    size: header("x-amz-if-match-size"),
  });
}

/** Reads the condition of one key in a DeleteObjects document. */
export function elementCondition(text: (element: string) => string | undefined): Condition | undefined {
  const etag = text("ETag");
  const base = etag ? parseCondition((name) => (name === "if-match" ? etag : undefined)) : undefined;
  return withIdentity(base, { time: text("LastModifiedTime"), size: text("Size") });
}

interface Identity {
  readonly time: string | undefined;
  readonly size: string | undefined;
}

/** Throws if the time or size is invalid: ignoring it could delete an object that has changed. */
function withIdentity(base: Condition | undefined, { time, size }: Identity): Condition | undefined {
  if (time === undefined && size === undefined) return base;
  const uploadedAt = parseHttpDate(time ?? null);
  const isValid = (time === undefined || uploadedAt !== undefined) && /^\d{1,15}$/.test(size?.trim() ?? "0");
  if (!isValid)
    throw new S3Error("InvalidArgument", {
      message: "The last-modified time or size of the condition is not valid.",
    });
  return {
    ...base,
    ...(uploadedAt === undefined ? {} : { uploadedAt }),
    ...(size === undefined ? {} : { size: Number(size) }),
    secondsGranularity: true,
  };
}

function parseCondition(header: (name: string) => string | undefined): Condition {
  try {
    return conditionFromHeaders({
      get(name) {
        const value = header(name);
        if (value === undefined) return null;
        return name.endsWith("match") ? withQuotes(value) : value;
      },
    });
  } catch (cause) {
    throw new S3Error("InvalidArgument", { message: "An ETag in the condition is not valid.", cause });
  }
}

/** Adds missing quotes to etags, because S3 accepts etags without quotes. */
function withQuotes(value: string): string {
  return value
    .split(",")
    .map((tag) => tag.trim())
    .map((tag) => (tag === "*" || tag.includes('"') ? tag : `"${tag}"`))
    .join(", ");
}

export function preconditionFailed(clause: Clause): S3Error {
  return new S3Error("PreconditionFailed", { details: { Condition: names[clause] } });
}

/** Returns 304, or throws 412, for a read that a condition refused. */
export function refuseRead(clause: Clause, { etag, uploaded }: ObjectRecord): S3Response {
  if (refusedReadStatus(clause) === 412) throw preconditionFailed(clause);
  return answer(304, [
    ["etag", quoteEtag(etag)],
    ["last-modified", httpTime(uploaded)],
  ]);
}
