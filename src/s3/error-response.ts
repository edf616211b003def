// Turns errors into the responses of the S3 API and into lines of the log.
import type { HttpRequest } from "../http/server/listen.ts";
import { errorMessage, StoreError } from "../model/errors.ts";
import { errorDocument } from "./body/xml-writer.ts";
import type { S3Response } from "./call.ts";
import { errorCodeByReason, S3Error, type S3ErrorOptions } from "./errors.ts";

export function faultLine(error: unknown, id: string): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const stack = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  return `S3 request ${id} failed: ${errorMessage(error)}\n${stack}`;
}

export function errorResponse(error: S3Error, http: HttpRequest, id: string): S3Response {
  const resource = http.target.split("?", 1)[0]!;
  const body = errorDocument([
    ["Code", error.code],
    ["Message", error.message],
    ...Object.entries(error.details).map(([name, value]) => [name, value] as const),
    ["Resource", resource],
    ["RequestId", id],
  ]);
  const headers: [string, string][] = [["content-type", "application/xml"]];
  if (error.retryAfterSeconds !== undefined) headers.push(["retry-after", String(error.retryAfterSeconds)]);
  headers.push(...error.headers.map(([name, value]): [string, string] => [name, value]));
  return { status: error.status, headers, body };
}

export function toS3Error(error: unknown): S3Error {
  if (error instanceof S3Error) return error;
  if (!(error instanceof StoreError)) {
    // The connection broke while the body was received: the client is at fault, not the server.
    const isConnectionReset = error instanceof Error && "code" in error && error.code === "ECONNRESET";
    return new S3Error(isConnectionReset ? "IncompleteBody" : "InternalError", { cause: error });
  }
  // The body stream failed with an S3 error, such as a wrong hash: report that error.
  if (error.cause instanceof S3Error) return error.cause;
  const code = errorCodeByReason[error.reason];
  const message = code === "InternalError" ? undefined : error.detail;
  return new S3Error(code, { message, cause: error, ...rangeDetails(error) });
}

/** A client that asked for a range outside the object can choose one inside (RFC 9110 15.5.17). */
function rangeDetails({ objectSize }: StoreError): Pick<S3ErrorOptions, "details" | "headers"> {
  if (objectSize === undefined) return {};
  return {
    details: { ActualObjectSize: String(objectSize) },
    headers: [["content-range", `bytes */${objectSize}`]],
  };
}
