// Copies the secret key of a store, which is needed to decrypt the copied secrets and access keys.
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

/** Copies the key file between two folders; in other cases prints what the user must do. */
export function carrySecretKey(invocation: Invocation, { from, to, report }: CopyResult): void {
  const { output, environment } = invocation;
  // A key from the environment needs no copy.
  if (environment.STORE_SECRET_KEY || report.documents === 0) return;
  const file = typeof from === "string" ? join(from, secretKeyFile) : undefined;
  if (file !== undefined && !existsSync(file)) return;
  if (file !== undefined && typeof to === "string") copyKey(file, join(to, secretKeyFile));
  else if (file !== undefined) {
    const path = displayPath(invocation, file);
    output.note(
      `Secrets and access keys are encrypted with the key in ${path}. Set STORE_SECRET_KEY to its contents wherever the copy is used.`,
    );
  } else {
    output.note(
      `Secrets and access keys are encrypted with the STORE_SECRET_KEY of the source. Set it for the copy too, or store it in ${secretKeyFile} of the copy, readable only by its owner.`,
    );
  }
}

function copyKey(from: string, to: string): void {
  if (existsSync(to)) return;
  try {
    // The copy has the same file mode: only the owner can read it.
    copyFileSync(from, to, constants.COPYFILE_EXCL);
    const descriptor = openSync(to, "r+");
    fsyncSync(descriptor);
    closeSync(descriptor);
  } catch (error) {
    throw fileError(error, "write the key file", to);
  }
}
