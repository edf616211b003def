// `store restore`: restores a backup to an empty data directory, or verifies it.
import { restoreStore, verifyBackup } from "../../maintenance.ts";
import type { Authentication, RestoreReport } from "../../model/backup.ts";
import { environmentSecretKey, secretKeyFile } from "../../secrets/master-key.ts";
import type { Command, Invocation } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import type { Output } from "../framework/output.ts";
import { pathArgument } from "../framework/path-argument.ts";
import { displayPath } from "../store/open-store.ts";
import { dataDirectory } from "../store/store-location.ts";
import { runTransfer } from "../terminal/transfer-progress.ts";
import { formatTotals, formatVerdict } from "../transfer/report.ts";

export const restoreCommand: Command = {
  name: "restore",
  summary: "Restore a backup to an empty data directory, or verify it",
  details:
    "Verifies the checksum of every byte. A damaged or incomplete backup is refused. An interrupted restore leaves\n" +
    "a data directory that cannot be opened; run the same command again to resume it.",
  usage: ["--from DIR", "--from DIR --verify"],
  options: {
    from: { value: "DIR", summary: "folder of the backup" },
    verify: { summary: "only verify the backup; exit code 1 if it is damaged" },
  },
  examples: [
    "store restore --from /backups/store --data /var/lib/store",
    "store restore --from /backups/store --verify",
  ],
  async run(invocation) {
    const from = invocation.options.text("from");
    if (from === undefined || from === "") throw usageError("store restore needs a folder: --from DIR");
    const path = pathArgument(invocation, { label: "--from", text: from });
    return invocation.options.flag("verify") ? verify(invocation, path) : restore(invocation, path);
  },
};

async function restore(invocation: Invocation, from: string): Promise<number> {
  const { output } = invocation;
  const location = await dataDirectory(invocation, [
    "Restore to a folder with --data DIR, then copy it to the cluster: store copy --from DIR",
  ]);
  if (location === "memory:") throw new CommandError("A backup cannot be restored to memory.");
  const report = await runTransfer(output, (line, signal) => {
    const progress = { ...line, expect: (total: number) => line.expect("restore", total) };
    return restoreStore(from, location, { ...keyOptions(invocation), progress, signal });
  });
  if (output.isJson) {
    await output.json({ from, data: location, ...report });
    return 0;
  }
  await output.line(
    `Restored ${formatTotals(report, output)} to ${output.name(displayPath(invocation, location))}, as of ${output.time(report.made)}.`,
  );
  noteMissingKey(report, output);
  return 0;
}

async function verify(invocation: Invocation, from: string): Promise<number> {
  const { output } = invocation;
  const report = await runTransfer(output, (line, signal) => {
    const progress = { ...line, expect: (total: number) => line.expect("verify", total) };
    return verifyBackup(from, { ...keyOptions(invocation), progress, signal });
  });
  const { damages } = report;
  const code = damages.length === 0 ? 0 : 1;
  if (output.isJson) {
    await output.json({ from, ...report, damages: damages.map(({ what }) => what) });
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
