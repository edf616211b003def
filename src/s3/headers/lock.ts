// Object Lock in the headers of requests and responses.
import { parseIsoTime } from "../../model/iso-time.ts";
import type { ObjectLock, Retention, RetentionMode } from "../../model/lock.ts";
import { canRemoveProtection } from "../auth/authorize.ts";
import { checksumHeader, s3Algorithms } from "../body/checksums.ts";
import type { Call } from "../call.ts";
import { S3Error } from "../errors.ts";
import type { S3Request } from "../request.ts";

const modeHeader = "x-amz-object-lock-mode";
const untilHeader = "x-amz-object-lock-retain-until-date";
const holdHeader = "x-amz-object-lock-legal-hold";

/** Reads the lock of an object that is written. */
export function readLock({ request, bucket }: Pick<Call, "request" | "bucket">): ObjectLock | undefined {
  const mode = request.header(modeHeader);
  const until = request.header(untilHeader);
  const hold = request.header(holdHeader);
  if (mode === undefined && until === undefined && hold === undefined) return undefined;
  const retention = readRetention(mode, until);
  if (hold !== undefined && hold !== "ON" && hold !== "OFF")
    throw invalid(holdHeader, hold, "Legal Hold must be either of 'ON' or 'OFF'");
  if (bucket?.settings.objectLock === undefined)
    throw new S3Error("InvalidRequest", { message: "Bucket is missing Object Lock Configuration" });
  return {
    ...(retention === undefined ? {} : { retention }),
    ...(hold === undefined ? {} : { legalHold: hold === "ON" }),
  };
}

function readRetention(mode: string | undefined, until: string | undefined): Retention | undefined {
  if (mode === undefined && until === undefined) return undefined;
  if (mode === undefined || until === undefined) {
    throw new S3Error("InvalidArgument", {
      message: `${untilHeader} and ${modeHeader} must both be supplied`,
    });
  }
  const parsed = parseMode(mode);
  if (parsed === undefined) throw invalid(modeHeader, mode, "Unknown wormMode directive.");
  const time = parseIsoTime(until);
  if (time === undefined)
    throw invalid(untilHeader, until, "The retain until date must be provided in ISO 8601 format");
  return { mode: parsed, until: time };
}

function invalid(argument: string, value: string, message: string): S3Error {
  return new S3Error("InvalidArgument", {
    message,
    details: { ArgumentName: argument, ArgumentValue: value },
  });
}

export function parseMode(text: string | undefined): RetentionMode | undefined {
  if (text === "GOVERNANCE") return "governance";
  return text === "COMPLIANCE" ? "compliance" : undefined;
}

export function formatMode(mode: RetentionMode): string {
  return mode.toUpperCase();
}

export function lockHeaders({ retention, legalHold }: ObjectLock): [string, string][] {
  const headers: [string, string][] = [];
  if (retention !== undefined) {
    headers.push([modeHeader, formatMode(retention.mode)]);
    headers.push([untilHeader, new Date(retention.until).toISOString()]);
  }
  if (legalHold !== undefined) headers.push([holdHeader, legalHold ? "ON" : "OFF"]);
  return headers;
}

/** As in S3, a body that will be locked must come with a checksum of its bytes. */
export function requireChecksum(request: S3Request, message: string): void {
  const { header } = request;
  const hasChecksum =
    header("content-md5") !== undefined ||
    header("x-amz-trailer") !== undefined ||
    s3Algorithms.some((algorithm) => header(checksumHeader(algorithm)) !== undefined);
  if (!hasChecksum) throw new S3Error("InvalidRequest", { message });
}

export function isBypassRequested({ header }: S3Request): boolean {
  return header("x-amz-bypass-governance-retention")?.toLowerCase() === "true";
}

/** Whether the request bypasses governance retention, which needs the admin right. */
export async function readBypass(call: Call): Promise<boolean> {
  const { request, operation, bucket } = call;
  if (!isBypassRequested(request)) return false;
  if (bucket !== undefined && (await canRemoveProtection(call, bucket, operation))) return true;
  throw new S3Error("AccessDenied", {
    message: "Access Denied: bypassing governance retention needs the admin right on the bucket.",
  });
}
