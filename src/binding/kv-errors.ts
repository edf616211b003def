// Translates errors of a key-value namespace to those that the platform's API throws.
import { type Reason, StoreError } from "../model/errors.ts";
import { KeyValueError } from "../model/key-value.ts";

export type KvMethod = "GET" | "GET_BULK" | "PUT" | "DELETE";

/** Default: 500. */
const statuses: Partial<Record<Reason, number>> = {
  NoSuchBucket: 404,
  InvalidArgument: 400,
  IncompleteBody: 400,
  ServiceUnavailable: 503,
  InsufficientStorage: 507,
};

/** Errors other than KeyValueError and StoreError are returned unchanged. */
export function toScriptError(method: KvMethod, error: unknown): unknown {
  if (error instanceof KeyValueError) return failed(method, error.status, error.message, error);
  if (!(error instanceof StoreError)) return error;
  return failed(method, statuses[error.reason] ?? 500, error.detail, error);
}

function failed(method: KvMethod, status: number, message: string, cause: unknown): Error {
  return new Error(`KV ${method} failed: ${status} ${message}`, { cause });
}
