// `store backup`: copies the data directory consistently, even while servers write to it.
import { backUpStore } from "../../maintenance.ts";
import { errorMessage } from "../../model/errors.ts";
import { findSecretKey, secretKeyFile } from "../../secrets/master-key.ts";
import type { Command, Invocation } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import { formatCount } from "../framework/output.ts";
import { pathArgument } from "../framework/path-argument.ts";
import { writeBackupNote } from "../store/backup-note.ts";
import { displayPath, requireData, withData } from "../store/open-store.ts";
import { dataDirectory } from "../store/store-location.ts";
import { runTransfer } from "../terminal/transfer-progress.ts";
import { formatTotals } from "../transfer/report.ts";

export const backupCommand: Command = {
  name: "backup",
  summary: "Make a consistent copy of the whole store",
  details:
    "Servers can keep running. A folder with an earlier backup is updated: only new files are copied, and the\n" +
    "earlier backup stays valid until the new one is complete. The backup includes the key that encrypts secrets\n" +
    "and access keys if it is stored in the data directory: protect the backup like the data.",
  usage: ["--to DIR"],
  options: {
    to: { value: "DIR", summary: "folder for the backup, preferably on another disk" },
    "without-secret-key": { summary: `leave out ${secretKeyFile}; keep it in another place` },
  },
  examples: [
    "store backup --to /backups/store",
    "store backup --data /var/lib/store --to /backups/store --json",
  ],
  async run(invocation) {
    const { output, options } = invocation;
    const to = options.text("to");
    if (to === undefined || to === "") throw usageError("store backup needs a folder: --to DIR");
    const path = pathArgument(invocation, { label: "--to", text: to });
    const location = await dataDirectory(invocation, [
      "Back up a cluster with the tools of PostgreSQL and of its blob storage.",
      "Or copy it to a folder: store copy --to DIR",
    ]);
    if (location === "memory:") throw new CommandError("A store in memory cannot be backed up.");
    requireData(invocation, location);
    const isKeyElsewhere =
      options.flag("without-secret-key") || Boolean(invocation.environment.STORE_SECRET_KEY);
    const [companions, elsewhere] = isKeyElsewhere ? [[], [secretKeyFile]] : [[secretKeyFile], []];
    const fromEnvironment = invocation.environment.STORE_SECRET_KEY || undefined;
    const secretKey = () => findSecretKey(location, fromEnvironment);
    // Check the secret key before anything is copied: this throws if the key is invalid.
    secretKey();
    const report = await runTransfer(output, (line, signal) => {
      const progress = { ...line, expect: (total: number) => line.expect("backup", total) };
      return backUpStore(location, path, { companions, elsewhere, secretKey, progress, signal });
    });
    await noteBackup(invocation);
    if (output.isJson) return output.json({ to: path, ...report });
    const { files, copiedFiles, copiedBytes } = report;
    const copied = `${formatCount(copiedFiles, "file")} (${output.size(copiedBytes)}) copied, ${files - copiedFiles} already there`;
    const target = output.name(displayPath(invocation, path));
    await output.line(`Backed up ${formatTotals(report, output)} to ${target}: ${copied}.`);
    if (isKeyElsewhere) {
      output.note("The key that encrypts secrets and access keys is not in the backup; keep a copy of it.");
    }
  },
};

/** The console shows the age of the last backup. The backup is complete without the note. */
async function noteBackup(invocation: Invocation): Promise<void> {
  try {
    await withData(invocation, { absent: "refuse" }, ({ documents }) =>
      writeBackupNote(documents, Date.now()),
    );
  } catch (error) {
    invocation.output.note(`warning: could not note the time of the backup: ${errorMessage(error)}`);
  }
}
