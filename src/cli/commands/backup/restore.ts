// `store restore`: restores a backup to an empty data directory or cluster, or verifies it.
import {
  restoreStore,
  restoreStoreOffsite,
  verifyBackup,
  verifyBackupOffsite,
} from "../../../maintenance.ts";
import type { Authentication, RestoreReport } from "../../../model/backup.ts";
import { formatRepository } from "../../../repository/object-store.ts";
import { environmentSecretKey, secretKeyFile } from "../../../secrets/master-key.ts";
import type { Command, Invocation } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import type { Output } from "../../framework/output.ts";
import { parsePastTime, pastTimeRule } from "../../framework/time-argument.ts";
import { displayPath } from "../../store/open-store.ts";
import { storeLocation } from "../../store/store-location.ts";
import { runTransfer } from "../../terminal/transfer-progress.ts";
import { formatTotals, formatVerdict } from "../../transfer/report.ts";
import { keyFileOption, readBackupKey } from "./key.ts";
import { type BackupLocation, parseBackupLocation, refuseForFolders } from "./location.ts";
import { restoreToCluster } from "./restore-cluster.ts";

export const restoreCommand: Command = {
  name: "restore",
  summary: "Restore a backup to an empty data directory or cluster, or verify it",
  details:
    "Verifies the checksum of every byte. A damaged or incomplete backup is refused. An interrupted restore leaves\n" +
    "a data directory that cannot be opened; run the same command again to resume it. From an S3 service, the latest\n" +
    "backup is restored, or the one that --at or --backup names. Credentials come from AWS_ACCESS_KEY_ID and\n" +
    "AWS_SECRET_ACCESS_KEY, a passphrase from STORE_BACKUP_PASSPHRASE or the terminal. For a cluster, the backup is\n" +
    "restored to the folder --staging first, then copied to the cluster, compared with it, and removed; missing\n" +
    "tables are created.\n" +
    `Times: ${pastTimeRule}.`,
  usage: [
    "--from DIR",
    "--from DIR --verify",
    "--from URL [--at TIME] [--backup ID] [--key-file FILE] [--verify]",
    "--from DIR|URL --staging DIR",
  ],
  options: {
    from: { value: "DIR", summary: "folder of the backup, or s3://host:port/bucket/prefix" },
    verify: { summary: "only verify the backup; exit code 1 if it is damaged" },
    at: { value: "TIME", summary: "the latest backup on an S3 service up to this time" },
    backup: { value: "ID", summary: "a backup on an S3 service, as store backup list prints it" },
    ...keyFileOption,
    staging: { value: "DIR", summary: "for a cluster: new or empty folder with space for all objects" },
  },
  examples: [
    "store restore --from /backups/store --data /var/lib/store",
    "store restore --from /backups/store --verify",
    "store restore --from s3://s3.example.com/backups/store --at 2026-11-15 --data /var/lib/store",
    "store restore --from s3://s3.example.com/backups/store --staging /var/tmp/restore --records postgres://store@db1,db2/store --blobs file:///mnt/shared/store",
  ],
  async run(invocation) {
    const { options } = invocation;
    const from = parseBackupLocation(invocation, "--from");
    if (from.kind === "folder") {
      refuseForFolders(
        invocation,
        ["at", "backup", "key-file"],
        "A folder has one backup: leave the option out.",
      );
    }
    if (options.flag("at") && options.flag("backup")) throw usageError("Specify --at or --backup, not both.");
    return options.flag("verify") ? verify(invocation, from) : restore(invocation, from);
  },
};

/** Returns the options that choose a backup on an S3 service, and its key. */
async function offsiteOptions(invocation: Invocation, { service }: BackupLocation & { readonly kind: "s3" }) {
  const { options } = invocation;
  const at = options.text("at");
  return {
    from: { ...service, ...(await readBackupKey(invocation, "none")) },
    choice: {
      backup: options.text("backup"),
      at: at === undefined ? undefined : parsePastTime("--at", at),
    },
  };
}

async function restore(invocation: Invocation, location: BackupLocation): Promise<number> {
  const { output, options } = invocation;
  const data = await storeLocation(invocation);
  if (data === "memory:") throw new CommandError("A backup cannot be restored to memory.");
  if (typeof data === "string" && options.text("staging") !== undefined) {
    throw usageError("--staging is for the restore to a cluster, but the store is a data directory.", [
      "Leave --staging out, or name the cluster: --records URL --blobs URL",
    ]);
  }
  const offsite = location.kind === "s3" ? await offsiteOptions(invocation, location) : undefined;
  const restoreTo = (directory: string): Promise<RestoreReport & { readonly backup?: string }> =>
    runTransfer(output, (line, signal) => {
      const progress = { ...line, expect: (total: number) => line.expect("restore", total) };
      const work = { ...keyOptions(invocation), progress, signal };
      return location.kind === "folder"
        ? restoreStore(location.path, directory, work)
        : restoreStoreOffsite(offsite!.from, directory, { ...work, ...offsite!.choice });
    });
  if (typeof data !== "string") {
    return restoreToCluster(invocation, {
      ...{ to: data, from: displaySource(location), ...offsite?.choice, restoreTo },
      noteMissingKey: (report) => noteMissingKey(report, output),
    });
  }
  const report = await restoreTo(data);
  if (output.isJson) {
    await output.json({ ...jsonSource(location), data, ...report });
    return 0;
  }
  await output.line(
    `Restored ${formatTotals(report, output)} to ${output.name(displayPath(invocation, data))}, as of ${output.time(report.made)}.`,
  );
  noteMissingKey(report, output);
  return 0;
}

function displaySource(location: BackupLocation): string {
  return location.kind === "folder" ? location.path : formatRepository(location.service.endpoint);
}

/** The folder. A report of an S3 service contains its address. */
function jsonSource(location: BackupLocation): object {
  return location.kind === "folder" ? { from: location.path } : {};
}

async function verify(invocation: Invocation, location: BackupLocation): Promise<number> {
  const { output } = invocation;
  const offsite = location.kind === "s3" ? await offsiteOptions(invocation, location) : undefined;
  const report = await runTransfer(output, (line, signal) => {
    const progress = { ...line, expect: (total: number) => line.expect("verify", total) };
    const work = { ...keyOptions(invocation), progress, signal };
    return location.kind === "folder"
      ? verifyBackup(location.path, work)
      : verifyBackupOffsite(offsite!.from, { ...work, ...offsite!.choice });
  });
  const { damages } = report;
  const code = damages.length === 0 ? 0 : 1;
  if (output.isJson) {
    await output.json({ ...jsonSource(location), ...report, damages: damages.map(({ what }) => what) });
    return code;
  }
  await output.table(
    [{ name: "DAMAGED" }],
    damages.map(({ what }) => [what]),
  );
  const verdict = formatVerdict(damages.length, output);
  await output.line(
    `Read the backup as of ${output.time(report.made)}: ${formatTotals(report, output)}. ${verdict}`,
  );
  noteMissingKey(report, output);
  return code;
}

/** The manifest is verified with STORE_SECRET_KEY, otherwise with the key file in the backup. */
function keyOptions({ environment }: Invocation) {
  return {
    secretKey: environmentSecretKey(environment.STORE_SECRET_KEY || undefined),
    keyCompanion: secretKeyFile,
  };
}

const authenticationNotes: Readonly<Record<Authentication, string | undefined>> = {
  verified: undefined,
  "no key": undefined,
  "own key": undefined,
  unverified:
    "The backup was not authenticated, because the secret key is missing. Set STORE_SECRET_KEY to the store's key.",
  missing:
    "The backup is not authenticated: an earlier version of Store made it, or its authentication was removed. Use it only if you trust its storage.",
};

function noteMissingKey({ elsewhere, authentication }: RestoreReport, output: Output): void {
  const note = authenticationNotes[authentication];
  if (note !== undefined) output.note(note);
  if (!elsewhere.includes(secretKeyFile)) return;
  output.note(
    `The key that encrypts secrets and access keys is not in the backup. Set STORE_SECRET_KEY, or put ${secretKeyFile} into the data directory.`,
  );
}
