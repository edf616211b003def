// Maps file system errors of the shared directory to StoreErrors.
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

/** Maps file system errors. Other errors, such as those of the body's source, are not changed. */
export function directoryError(error: unknown, directory: string, what: "read" | "written"): unknown {
  if (!(error instanceof Error) || (error as NodeJS.ErrnoException).syscall === undefined) return error;
  if (isNoSpace(error)) {
    const detail = `The blob directory ${directory} is full: delete objects or add space, then try again.`;
    return new StoreError("InsufficientStorage", { detail, cause: error });
  }
  return new StoreError("ServiceUnavailable", {
    detail: `A blob could not be ${what} in ${directory}: ${error.message}.`,
    cause: error,
  });
}
