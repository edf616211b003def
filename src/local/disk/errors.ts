// Failures of the disk, in the store's words.
import { constants } from "node:os";
import { StoreError } from "../../model/errors.ts";
import type { WriteStop } from "./write-stop.ts";

function systemError(error: unknown): { code: string; syscall: string } | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === undefined || syscall === undefined ? undefined : { code, syscall };
}

const quotaErrno = -constants.errno.EDQUOT;

/** No space left, on the disk or of what this user may take of it, for which Node has no name. */
export function isNoSpace(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errno } = error as NodeJS.ErrnoException;
  return code === "ENOSPC" || code === "EDQUOT" || errno === quotaErrno;
}

export function isMissing(error: unknown): boolean {
  return systemError(error)?.code === "ENOENT";
}

/** Why a blob could not be written. What the source of the bytes threw passes as it is. */
export function writeError(error: unknown, writeStop: WriteStop): unknown {
  const system = systemError(error);
  if (system === undefined) return error;
  const { code, syscall } = system;
  // Nothing else is missing on the way to a new file than the folder of a bucket deleted meanwhile.
  if (code === "ENOENT") return new StoreError("NoSuchBucket", { cause: error });
  // A full disk may show at the sync only. The file it was about is thrown away, and with it all doubt.
  if (isNoSpace(error) && syscall !== "fsync") return new StoreError("InsufficientStorage", { cause: error });
  if (syscall === "fsync" || syscall === "fdatasync") return writeStop.trip(error);
  return new StoreError("ServiceUnavailable", {
    detail: "The bytes could not be written to the disk.",
    cause: error,
  });
}

/** Why stored bytes could not be read. */
export function readError(error: unknown): unknown {
  if (systemError(error) === undefined) return error;
  return new StoreError("ServiceUnavailable", {
    detail: "The bytes could not be read from the disk.",
    cause: error,
  });
}
