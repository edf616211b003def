// Restores a backup to a cluster: into the folder --staging, then from there to the cluster.
import { checkCopyTarget, copyStore, inspectStore, migrateStore, stageBackup } from "../../../maintenance.ts";
import type { BackupChoice, RestoreReport } from "../../../model/backup.ts";
import type { CopyFinding } from "../../../model/copy.ts";
import { type ClusterLocation, formatLocation } from "../../../model/names/location.ts";
import { secretKeyFile } from "../../../secrets/master-key.ts";
import type { Invocation } from "../../framework/command.ts";
import { CommandError } from "../../framework/command-error.ts";
import { toCommandError } from "../../framework/failures.ts";
import { escapeControls } from "../../framework/output.ts";
import { pathArgument } from "../../framework/path-argument.ts";
import { displayPath } from "../../store/open-store.ts";
import { clearProgressLine } from "../../terminal/progress.ts";
import { runTransfer } from "../../terminal/transfer-progress.ts";
import { formatTotals } from "../../transfer/report.ts";

export interface ClusterRestore extends BackupChoice {
  readonly to: ClusterLocation;
  /** Folder or address of the backup, without credentials. */
  readonly from: string;
  /** Restores the backup into a data directory, or resumes it. */
  restoreTo(directory: string): Promise<RestoreReport & { readonly backup?: string }>;
  noteMissingKey(report: RestoreReport): void;
}

/** Returns the exit code: 1 if the cluster does not have everything. */
export async function restoreToCluster(invocation: Invocation, restore: ClusterRestore): Promise<number> {
  const { output, options } = invocation;
  const { to, from, backup, at } = restore;
  const given = options.text("staging");
  if (given === undefined) {
    throw new CommandError("The store is a cluster: a restore needs a folder for a copy of the backup.", {
      hint: [
        "Name a new or empty folder with space for all objects: --staging DIR",
        "Or restore to a data directory: --data DIR",
      ],
    });
  }
  const folder = pathArgument(invocation, { label: "--staging", text: given });
  try {
    const { schema } = await inspectStore(to);
    const staged = await stageBackup(
      folder,
      { from, backup, at },
      {
        check: async (data) => {
          if (schema !== undefined) await checkCopyTarget(data, to);
        },
        restore: (data) => restore.restoreTo(data),
      },
    );
    if (staged.report !== undefined) restore.noteMissingKey(staged.report);
    if (schema === undefined) await migrateStore(to);
    const report = await runTransfer(output, (progress, signal) =>
      copyStore({
        ...{ from: staged.data, to, progress, signal },
        onFinding: (finding) => noteFinding(invocation, finding),
      }),
    );
    if (report.differences > 0) {
      throw new CommandError("The cluster differs from the backup and cannot be opened yet.", {
        hint: "Stop every process that uses the cluster or the staging folder, then run the same command again.",
      });
    }
    const { keptFile } = await staged.remove(secretKeyFile);
    if (keptFile !== undefined) {
      output.note(
        `Secrets and access keys are encrypted with the key in ${displayPath(invocation, keptFile)}. Set STORE_SECRET_KEY to its contents for all servers, then remove the file.`,
      );
    }
    if (output.isJson) await output.json({ from, to: formatLocation(to), made: staged.made, ...report });
    else {
      const target = output.name(formatLocation(to));
      await output.line(
        `Restored ${formatTotals(report, output)} to ${target}, as of ${output.time(staged.made)}.`,
      );
    }
    return report.damages === 0 ? 0 : 1;
  } catch (error) {
    throw toCommandError(error, { storeKind: "cluster" });
  }
}

async function noteFinding({ output }: Invocation, finding: CopyFinding): Promise<void> {
  const { kind, bucket = "", key = "", what } = finding;
  clearProgressLine(output);
  output.note(`${kind}: ${escapeControls(`${bucket}/${key}`)}: ${escapeControls(what)}`);
}
