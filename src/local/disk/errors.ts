// Maps system errors of the disk to StoreErrors.
import { constants } from "node:os";
import { StoreError } from "../../model/errors.ts";
import type { WriteStop } from "./write-stop.ts";

function systemError(error: unknown): { code: string; syscall: string } | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === undefined || syscall === undefined ? undefined : { code, syscall };
}

const quotaErrno = -constants.errno.EDQUOT;

/** Whether the disk or the user's quota is full. Node has no code for some quota errors. */
export function isNoSpace(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errno } = error as NodeJS.ErrnoException;
  return code === "ENOSPC" || code === "EDQUOT" || errno === quotaErrno;
}

export function isMissing(error: unknown): boolean {
  return systemError(error)?.code === "ENOENT";
}

/** Maps an error of writing a blob. Errors thrown by the source of the bytes are not changed. */
export function writeError(error: unknown, writeStop: WriteStop): unknown {
  const system = systemError(error);
  if (system === undefined) return error;
  const { code, syscall } = system;
  // Only the folder of a deleted bucket can be missing.
  if (code === "ENOENT") return new StoreError("NoSuchBucket", { cause: error });
  // A full disk may be reported only by fdatasync. Writes can continue, because the file is
  // discarded.
  if (isNoSpace(error) && syscall !== "fsync") return new StoreError("InsufficientStorage", { cause: error });
  if (syscall === "fsync" || syscall === "fdatasync") return writeStop.trip(error);
  return new StoreError("ServiceUnavailable", {
    detail: "The bytes could not be written to the disk.",
    cause: error,
  });
}

/** Maps an error of reading a blob. */
export function readError(error: unknown): unknown {
  if (systemError(error) === undefined) return error;
  return new StoreError("ServiceUnavailable", {
    detail: "The bytes could not be read from the disk.",
    cause: error,
  });
}
