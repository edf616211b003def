// Translates errors of a key-value namespace to the errors that the platform's API throws.
import { statusByReason } from "../http/status.ts";
import { StoreError } from "../model/errors.ts";
import { KeyValueError } from "../model/key-value.ts";

export type KvMethod = "GET" | "GET_BULK" | "PUT" | "DELETE";

/** Returns the error for the script. Errors that are not from the store are not changed. */
export function toScriptError(method: KvMethod, error: unknown): unknown {
  if (error instanceof KeyValueError) return failed(method, error.status, error.message, error);
  if (!(error instanceof StoreError)) return error;
  return failed(method, statusByReason[error.reason], error.detail, error);
}

function failed(method: KvMethod, status: number, message: string, cause: unknown): Error {
  return new Error(`KV ${method} failed: ${status} ${message}`, { cause });
}
