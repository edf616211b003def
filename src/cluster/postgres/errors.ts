// What went wrong in the database, in our own words: whether a change can still have happened, whether trying again
// helps, and what to tell.
import { StoreError } from "../../model/errors.ts";
import { LostConnection, MissingDriver } from "./connection.ts";
import { TlsFault } from "./tls-fault.ts";

/**
 * What is known of a change whose statement failed: it did not happen and will not (`refused`), it did not happen
 * but may be tried again (`again`), or nobody knows (`unknown`).
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
    // Text with a NUL: keys are bytes, so it is the name of a bucket, and no bucket has it.
    case "22021":
      return { kind: "refused", error: new StoreError("NoSuchBucket", { cause: error }) };
    // A deadlock, a failed serialization, a server that takes no writes: rolled back, all of it.
    case "40P01":
    case "40001":
    case "25006":
      return { kind: "again" };
  }
  // Ended by an operator, by a shutdown, or by a fault of its own: perhaps while it waited for a standby.
  if (/^(08|57|58|XX)/.test(code)) return { kind: "unknown" };
  return { kind: "refused", error: toStoreError(error) };
}

/** Whether a statement that changes nothing, or may run twice, is worth trying on another connection. */
export function isRetryable(error: unknown): boolean {
  const { kind } = classifyFailure(error);
  return kind === "unknown" || kind === "again";
}

/** Wrong password, no such database, no driver, no TLS: no waiting helps. */
export function isPermanent(error: unknown): boolean {
  if (error instanceof MissingDriver || error instanceof TlsFault) return true;
  const code = sqlState(error);
  return code !== undefined && /^(28|3D|42)/.test(code);
}

/** Asking once more at once would only take as long again. */
export class DatabaseUnavailable extends StoreError {}

export function unavailable(where: string, cause: unknown): DatabaseUnavailable {
  const detail = `The database ${where} cannot be reached, or has no server that takes writes. Please try again.`;
  return new DatabaseUnavailable("ServiceUnavailable", { detail, cause });
}

/** The same of a change that was certainly not made: it was never sent, or the database has rolled it back. */
export function markNotDone(error: unknown): unknown {
  if (!(error instanceof StoreError) || error.reason !== "ServiceUnavailable") return error;
  const options = { detail: error.detail, cause: error.cause, notDone: true } as const;
  return error instanceof DatabaseUnavailable
    ? new DatabaseUnavailable(error.reason, options)
    : new StoreError(error.reason, options);
}

/** As a StoreError where it has one. */
export function toStoreError(error: unknown): unknown {
  const code = sqlState(error);
  if (code === undefined) return error;
  const words = (error as Error).message;
  if (code === "53100") return new StoreError("InsufficientStorage", { cause: error });
  if (/^(28|3D)/.test(code)) {
    return new StoreError("ServiceUnavailable", {
      detail: `The database refuses us: ${words}.`,
      cause: error,
    });
  }
  if (/^53/.test(code)) {
    return new StoreError("ServiceUnavailable", {
      detail: `The database has no room for this now: ${words}.`,
      cause: error,
    });
  }
  return new StoreError("InternalError", { detail: `The database failed: ${words}.`, cause: error });
}

function processExpiredError(cause: unknown): StoreError {
  const detail =
    "This process gave no sign of life for so long that what it was writing was cleared away. Please try again.";
  return new StoreError("ServiceUnavailable", { detail, cause });
}

function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || !("severity" in error)) return undefined;
  return String(error.code);
}
