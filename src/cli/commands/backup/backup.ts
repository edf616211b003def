// `store backup`: copies the data directory consistently, even while servers write to it, to a folder
// or to an S3 service; and lists the backups on an S3 service.
import { backUpStore, backUpStoreOffsite, recordClusterBackup } from "../../../maintenance.ts";
import type { BackupOptions } from "../../../model/backup.ts";
import { errorMessage } from "../../../model/errors.ts";
import type { ClusterLocation } from "../../../model/names/location.ts";
import { parseKeepRule } from "../../../repository/retention.ts";
import { findSecretKey, secretKeyFile } from "../../../secrets/master-key.ts";
import type { Command, Invocation } from "../../framework/command.ts";
import { CommandError, parseOrUsageError, usageError } from "../../framework/command-error.ts";
import { formatCount } from "../../framework/output.ts";
import { displayPath, requireData } from "../../store/open-store.ts";
import { storeLocation } from "../../store/store-location.ts";
import { runTransfer } from "../../terminal/transfer-progress.ts";
import { formatTotals } from "../../transfer/report.ts";
import { keyFileOption, readBackupKey } from "./key.ts";
import { listBackupsCommand } from "./list.ts";
import { type BackupLocation, parseBackupLocation, refuseForFolders } from "./location.ts";
import { copyToStaging, type StagedCopy } from "./staging.ts";

export const backupCommand: Command = {
  name: "backup",
  summary: "Make a consistent copy of the whole store",
  details:
    "Servers can keep running. A folder with an earlier backup is updated: only new files are copied, and the\n" +
    "earlier backup stays valid until the new one is complete. On an S3 service every backup is kept beside the\n" +
    "earlier ones, and they share their bodies; --keep 7d,4w,12m keeps the last backup of each of the latest\n" +
    "7 days, 4 weeks and 12 months that have one, and removes the others. Credentials for the S3 service come from\n" +
    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, the passphrase of --encrypt from\n" +
    "STORE_BACKUP_PASSPHRASE, the terminal or stdin. The backup includes the key that encrypts secrets and access\n" +
    "keys if it is stored in the data directory: protect the backup like the data. A cluster is copied to the folder\n" +
    "--staging first, as of one instant, and that copy is backed up; the next backup copies only what is new.",
  usage: [
    "--to DIR",
    "--to URL [--keep RULE] [--encrypt] [--key-file FILE]",
    "--staging DIR --to URL",
    "list --from URL",
  ],
  options: {
    to: { value: "DIR", summary: "folder, or s3://host:port/bucket/prefix" },
    from: { value: "URL", summary: "with list: s3://host:port/bucket/prefix" },
    keep: { value: "RULE", summary: "which backups on an S3 service to keep; default: all" },
    encrypt: { summary: "encrypt new backups on an S3 service with a passphrase" },
    ...keyFileOption,
    staging: { value: "DIR", summary: "for a cluster: folder of its copy, kept for the next backup" },
    "without-secret-key": { summary: `leave out ${secretKeyFile}; store it separately` },
  },
  examples: [
    "store backup --to /backups/store",
    "store backup --data /var/lib/store --to /backups/store --json",
    "store backup --to s3://s3.example.com/backups/store --keep 7d,4w,12m --key-file backup.key",
    "store backup --staging /var/lib/store-staging --to s3://s3.example.com/backups/store",
    "store backup list --from s3://s3.example.com/backups/store",
  ],
  async run(invocation) {
    const [verb] = invocation.parameters;
    if (verb === "list") return listBackupsCommand(invocation);
    if (verb !== undefined) {
      throw usageError(
        `store backup does not expect "${verb}".`,
        "List backups: store backup list --from s3://…",
      );
    }
    if (invocation.options.text("from") !== undefined) {
      throw usageError("--from only works with: store backup list", "Specify the target with --to.");
    }
    return backUp(invocation, parseBackupLocation(invocation, "--to"));
  },
};

/** Returns the exit code: 1 if damaged objects of a cluster are missing in the backup. */
async function backUp(invocation: Invocation, to: BackupLocation): Promise<number> {
  const { options, environment } = invocation;
  const keep = options.text("keep");
  const rule = keep === undefined ? undefined : parseOrUsageError(() => parseKeepRule(keep));
  if (to.kind === "folder") {
    const hint = "A folder has one backup. Use several folders, or an encrypted file system.";
    refuseForFolders(invocation, ["keep", "encrypt", "key-file"], hint);
  }
  const { data, damages, cluster } = await findData(invocation);
  const isKeyElsewhere = options.flag("without-secret-key") || Boolean(environment.STORE_SECRET_KEY);
  const [companions, elsewhere] = isKeyElsewhere ? [[], [secretKeyFile]] : [[secretKeyFile], []];
  const secretKey = () => findSecretKey(data, environment.STORE_SECRET_KEY || undefined);
  // Check the secret key before anything is copied: this throws if the key is invalid.
  secretKey();
  const work = { companions, elsewhere, secretKey };
  if (to.kind === "folder") await backUpToFolder(invocation, data, to.path, work);
  else await backUpToService(invocation, data, to, { ...work, keep: rule });
  if (cluster !== undefined) await recordBackup(invocation, cluster, data);
  if (isKeyElsewhere && !invocation.output.isJson) {
    invocation.output.note(
      "The key that encrypts secrets and access keys is not in the backup; keep a copy of it.",
    );
  }
  return damages === 0 ? 0 : 1;
}

/** Returns the directory to back up: the store's own, or the copy of a cluster in --staging. */
async function findData(
  invocation: Invocation,
): Promise<StagedCopy & { readonly cluster?: ClusterLocation }> {
  const location = await storeLocation(invocation);
  const staging = invocation.options.text("staging");
  if (typeof location !== "string") {
    return { ...(await copyToStaging(invocation, location, staging)), cluster: location };
  }
  if (staging !== undefined)
    throw usageError("--staging is for the backup of a cluster, but the store is a data directory.", [
      "Leave --staging out: a data directory is backed up directly.",
      "Or name the cluster: --records URL --blobs URL",
    ]);
  if (location === "memory:") throw new CommandError("A store in memory cannot be backed up.");
  requireData(invocation, location);
  return { data: location, damages: 0 };
}

/** For `store doctor`. A failure is only reported, because the backup itself is complete. */
async function recordBackup({ output }: Invocation, cluster: ClusterLocation, data: string): Promise<void> {
  await recordClusterBackup(cluster, data).catch((error: unknown) => {
    output.note(`The time of the backup could not be recorded in the cluster: ${errorMessage(error)}`);
  });
}

async function backUpToFolder(
  invocation: Invocation,
  data: string,
  path: string,
  work: BackupOptions,
): Promise<void> {
  const { output } = invocation;
  const report = await runTransfer(output, (line, signal) => {
    const progress = { ...line, expect: (total: number) => line.expect("backup", total) };
    return backUpStore(data, path, { ...work, progress, signal });
  });
  if (output.isJson) return output.json({ to: path, ...report });
  const { files, copiedFiles, copiedBytes } = report;
  const copied = `${formatCount(copiedFiles, "file")} (${output.size(copiedBytes)}) copied, ${files - copiedFiles} already there`;
  const target = output.name(displayPath(invocation, path));
  await output.line(`Backed up ${formatTotals(report, output)} to ${target}: ${copied}.`);
}

type OffsiteWork = NonNullable<Parameters<typeof backUpStoreOffsite>[2]>;

async function backUpToService(
  invocation: Invocation,
  data: string,
  { service }: BackupLocation & { readonly kind: "s3" },
  work: OffsiteWork,
): Promise<void> {
  const { output, options } = invocation;
  const wants = options.flag("encrypt") ? "passphrase" : "none";
  const to = { ...service, ...(await readBackupKey(invocation, wants)) };
  const report = await runTransfer(output, (line, signal) => {
    const progress = { ...line, expect: (total: number) => line.expect("backup", total) };
    return backUpStoreOffsite(data, to, { ...work, progress, signal });
  });
  if (output.isJson) return output.json(report);
  const { files, copiedFiles, copiedBytes, keptBackups, removedBackups } = report;
  const copied = `${formatCount(copiedFiles, "file")} (${output.size(copiedBytes)}) copied, ${files - copiedFiles} already there`;
  await output.line(`Backed up ${formatTotals(report, output)} to ${output.name(report.to)}: ${copied}.`);
  const removed = removedBackups === 0 ? "" : `, ${removedBackups} removed`;
  await output.line(`Backup ${report.backup}; ${formatCount(keptBackups, "backup")} there${removed}.`);
  if (!report.isEncrypted) {
    output.note(
      "The backup is not encrypted. To encrypt, use another prefix and --encrypt or --key-file FILE.",
    );
  }
}
