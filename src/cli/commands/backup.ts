// `store backup`: a consistent copy of the data directory, also while servers write to it.
import { backUpStore } from "../../open.ts";
import { findSecretKey, secretKeyFile } from "../../secrets/master-key.ts";
import type { Command } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import { formatCount } from "../framework/output.ts";
import { pathArgument } from "../framework/path-argument.ts";
import { displayPath, requireData } from "../store/open-store.ts";
import { dataDirectory } from "../store/store-location.ts";
import { runTransfer } from "../terminal/transfer-progress.ts";
import { formatTotals } from "../transfer/report.ts";

export const backupCommand: Command = {
  name: "backup",
  summary: "Make a consistent copy of everything that is stored",
  details:
    "Servers may go on meanwhile. Into a folder with an earlier backup only what is new is copied, and the earlier\n" +
    "one stays until the new one is complete. The key that secrets and access keys are sealed with goes along when\n" +
    "it is kept in the data directory: guard the backup as you guard the data.",
  usage: ["--to DIR"],
  options: {
    to: { value: "DIR", summary: "the folder for the backup, best on another disk" },
    "without-secret-key": { summary: `leave ${secretKeyFile} out; keep it elsewhere` },
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
      "A cluster is backed up with the tools of PostgreSQL and of what holds its bytes.",
      "Or copy it into a folder: store copy --to DIR",
    ]);
    if (location === "memory:") throw new CommandError("What is only in memory cannot be backed up.");
    requireData(invocation, location);
    const isKeyElsewhere =
      options.flag("without-secret-key") || Boolean(invocation.environment.STORE_SECRET_KEY);
    const [companions, elsewhere] = isKeyElsewhere ? [[], [secretKeyFile]] : [[secretKeyFile], []];
    const fromEnvironment = invocation.environment.STORE_SECRET_KEY || undefined;
    const secretKey = () => findSecretKey(location, fromEnvironment);
    // A key that cannot be used is reported before anything is copied.
    secretKey();
    const report = await runTransfer(output, (line, signal) => {
      const progress = { ...line, expect: (total: number) => line.expect("backup", total) };
      return backUpStore(location, path, { companions, elsewhere, secretKey, progress, signal });
    });
    if (output.isJson) return output.json({ to: path, ...report });
    const { files, copiedFiles, copiedBytes } = report;
    const copied = `${formatCount(copiedFiles, "file")} (${output.size(copiedBytes)}) copied, ${files - copiedFiles} already there`;
    const target = output.name(displayPath(invocation, path));
    await output.line(`Backed up ${formatTotals(report, output)} to ${target}: ${copied}.`);
    if (isKeyElsewhere) {
      output.note("The key that secrets and access keys are sealed with is not in the backup: keep it too.");
    }
  },
};
