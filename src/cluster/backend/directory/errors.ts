// Failures of a directory that machines share, in the store's words.
import { constants } from "node:os";
import { StoreError } from "../../../model/errors.ts";

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

export function isMissing(error: unknown): boolean {
  return errorCode(error) === "ENOENT";
}

const quotaErrno = -constants.errno.EDQUOT;

function isNoSpace(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOSPC" || code === "EDQUOT" || (error as NodeJS.ErrnoException).errno === quotaErrno;
}

/** What is not the system's, such as an error of the source of the bytes, passes as it is. */
export function directoryError(error: unknown, directory: string, what: "read" | "written"): unknown {
  if (!(error instanceof Error) || (error as NodeJS.ErrnoException).syscall === undefined) return error;
  if (isNoSpace(error)) {
    const detail = `The directory ${directory} that keeps the bytes is full: delete objects or add space, then try again.`;
    return new StoreError("InsufficientStorage", { detail, cause: error });
  }
  return new StoreError("ServiceUnavailable", {
    detail: `The bytes could not be ${what} in ${directory}: ${error.message}.`,
    cause: error,
  });
}
