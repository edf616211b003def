// Responses for errors of a namespace. The runtime shows status and reason phrase to the script, as
// in `KV PUT failed: 400 Invalid expiration of 0.`, so the phrase contains the message.
import type { HttpResponse } from "../../http/server/listen.ts";
import { statusByReason } from "../../http/status.ts";
import { errorMessage, isStoreFault, StoreError } from "../../model/errors.ts";
import { KeyValueError } from "../../model/key-value.ts";
import type { KvRequest } from "./parse-request.ts";

export interface FailedRequest {
  /** Undefined if the request could not be parsed. */
  readonly operation: KvRequest["operation"] | undefined;
  readonly log: ((line: string) => void) | undefined;
}

/** A script sees this message instead of the details of a fault of the store. */
const faultMessage = "Internal Server Error";
const maxMessageBytes = 1024;

export function errorResponse(error: unknown, { operation, log }: FailedRequest): HttpResponse {
  const { status, message } = describe(error);
  if (message === faultMessage) log?.(`A key-value request failed: ${errorMessage(error)}`);
  return {
    // For a get, the runtime would take 404 for a missing key and return null.
    status: operation === "get" && (status === 404 || status === 410) ? 400 : status,
    statusText: toReasonPhrase(message),
    headers: [["content-type", "text/plain; charset=utf-8"]],
    body: `${message}\n`,
  };
}

function describe(error: unknown): { readonly status: number; readonly message: string } {
  if (error instanceof KeyValueError) return { status: error.status, message: error.message };
  if (!(error instanceof StoreError) || isStoreFault(error)) return { status: 500, message: faultMessage };
  return { status: statusByReason[error.reason], message: error.detail };
}

/** Returns the bytes of the message as characters, without those that would end the line. */
function toReasonPhrase(message: string): string {
  const bytes = Buffer.from(message).subarray(0, maxMessageBytes);
  return bytes.toString("latin1").replace(/[\x00-\x1f\x7f]/g, " ");
}
