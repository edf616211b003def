// Classifies database errors: whether the change may have happened, and whether retrying helps.
import { StoreError } from "../../model/errors.ts";
import { LostConnection, MissingDriver } from "./connection.ts";
import { TlsFault } from "./tls-fault.ts";

/**
 * The state of a change whose statement failed. `refused`: it did not happen and must not be
 * retried. `again`: it did not happen and can be retried. `unknown`: it may have happened.
 */
export type Failure =
  | { readonly kind: "conflict" | "fenced" | "again" | "unknown" }
  | { readonly kind: "refused"; readonly error: unknown };

export function classifyFailure(error: unknown): Failure {
  if (error instanceof LostConnection) return { kind: "unknown" };
  const code = sqlState(error);
  if (code === undefined) return { kind: "refused", error };
  switch (code) {
    case "ST001":
      return { kind: "conflict" };
    case "ST002":
      return { kind: "fenced" };
    case "ST003":
      return { kind: "refused", error: processExpiredError(error) };
    case "ST004":
      return { kind: "refused", error: new StoreError("NoSuchBucket", { cause: error }) };
    // Text with NUL, which can only be a bucket name: keys are sent as bytes. No bucket has such a
    // name.
    case "22021":
      return { kind: "refused", error: new StoreError("NoSuchBucket", { cause: error }) };
    // Deadlock, serialization failure, read-only server: the transaction was rolled back.
    case "40P01":
    case "40001":
    case "25006":
      return { kind: "again" };
  }
  // The session was ended by an operator, a shutdown or a crash, perhaps during its commit.
  if (/^(08|57|58|XX)/.test(code)) return { kind: "unknown" };
  return { kind: "refused", error: toStoreError(error) };
}

/** Whether retrying a read or an idempotent statement on another connection can succeed. */
export function isRetryable(error: unknown): boolean {
  const { kind } = classifyFailure(error);
  return kind === "unknown" || kind === "again";
}

/** Whether retrying cannot help: wrong password, missing database, missing driver, or no TLS. */
export function isPermanent(error: unknown): boolean {
  if (error instanceof MissingDriver || error instanceof TlsFault) return true;
  const code = sqlState(error);
  return code !== undefined && /^(28|3D|42)/.test(code);
}

/** Thrown after the timeout. An immediate retry would only wait for another timeout. */
export class DatabaseUnavailable extends StoreError {}

export function unavailable(where: string, cause: unknown): DatabaseUnavailable {
  const detail = `The database ${where} cannot be reached, or has no server that takes writes. Please try again.`;
  return new DatabaseUnavailable("ServiceUnavailable", { detail, cause });
}

/** Marks the error of a change that was never sent or was rolled back. */
export function markNotDone(error: unknown): unknown {
  if (!(error instanceof StoreError) || error.reason !== "ServiceUnavailable") return error;
  const options = { detail: error.detail, cause: error.cause, notDone: true } as const;
  return error instanceof DatabaseUnavailable
    ? new DatabaseUnavailable(error.reason, options)
    : new StoreError(error.reason, options);
}

/** Maps an error of the database to a StoreError. Other errors are returned unchanged. */
export function toStoreError(error: unknown): unknown {
  const code = sqlState(error);
  if (code === undefined) return error;
  const { message } = error as Error;
  if (code === "53100") return new StoreError("InsufficientStorage", { cause: error });
  if (/^(28|3D)/.test(code)) {
    return new StoreError("ServiceUnavailable", {
      detail: `The database refuses the connection: ${message}.`,
      cause: error,
    });
  }
  if (/^53/.test(code)) {
    return new StoreError("ServiceUnavailable", {
      detail: `The database has no resources left for this: ${message}.`,
      cause: error,
    });
  }
  return new StoreError("InternalError", { detail: `The database failed: ${message}.`, cause: error });
}

function processExpiredError(cause: unknown): StoreError {
  const detail =
    "This process sent no heartbeat for so long that its unfinished writes were removed. Please try again.";
  return new StoreError("ServiceUnavailable", { detail, cause });
}

function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || !("severity" in error)) return undefined;
  return String(error.code);
}
