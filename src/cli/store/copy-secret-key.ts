// The key that secrets and access keys are sealed with, when a store is copied: what comes over is of no use without it.
import { closeSync, constants, copyFileSync, existsSync, fsyncSync, openSync } from "node:fs";
import { join } from "node:path";
import type { CopyReport } from "../../model/copy.ts";
import { secretKeyFile } from "../../secrets/master-key.ts";
import type { Invocation } from "../framework/command.ts";
import { fileError } from "../framework/failures.ts";
import type { CopyEndpoints } from "./copy-endpoints.ts";
import { displayPath } from "./open-store.ts";

interface CopyResult extends CopyEndpoints {
  readonly report: CopyReport;
}

/** Goes along from folder to folder; else whoever copies is told what to do about it. */
export function carrySecretKey(invocation: Invocation, { from, to, report }: CopyResult): void {
  const { output, environment } = invocation;
  // Kept elsewhere, it stays there.
  if (environment.STORE_SECRET_KEY || report.documents === 0) return;
  const file = typeof from === "string" ? join(from, secretKeyFile) : undefined;
  if (file !== undefined && !existsSync(file)) return;
  if (file !== undefined && typeof to === "string") copyKey(file, join(to, secretKeyFile));
  else if (file !== undefined) {
    const path = displayPath(invocation, file);
    output.note(
      `Secrets and access keys are sealed with the key in ${path}: set STORE_SECRET_KEY to what it holds wherever the copy is used.`,
    );
  } else {
    output.note(
      `Secrets and access keys are sealed with the STORE_SECRET_KEY of the source: set it here too, or put it into ${secretKeyFile} of the copy, readable by its owner alone.`,
    );
  }
}

function copyKey(from: string, to: string): void {
  if (existsSync(to)) return;
  try {
    // With its mode: its owner alone may read it.
    copyFileSync(from, to, constants.COPYFILE_EXCL);
    const descriptor = openSync(to, "r+");
    fsyncSync(descriptor);
    closeSync(descriptor);
  } catch (error) {
    throw fileError(error, "write the key file", to);
  }
}
