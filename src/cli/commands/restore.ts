// `store restore`: a backup back into an empty data directory, or only read through.
import type { Authentication, RestoreReport } from "../../model/backup.ts";
import { restoreStore, verifyBackup } from "../../open.ts";
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
  summary: "Bring a backup back into an empty data directory, or check one",
  details:
    "Every byte is held against its checksum. A backup that is damaged or was never finished is refused. A restore\n" +
    "that was cut off leaves a data directory that nothing opens; the same command goes on with it.",
  usage: ["--from DIR", "--from DIR --verify"],
  options: {
    from: { value: "DIR", summary: "the folder with the backup" },
    verify: { summary: "only read the backup and tell what is damaged; exit code 1 when something is" },
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
    "Restore into a folder, then copy that into the cluster: --data DIR, and then store copy --from DIR",
  ]);
  if (location === "memory:") throw new CommandError("A backup cannot be restored into memory.");
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

/** The manifest is held against the key in the environment, or else against the one inside the backup. */
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
    "The backup was not authenticated, because the secret key is not at hand: set STORE_SECRET_KEY to the store's key to do so.",
  missing:
    "The backup is not authenticated: an earlier version of Store made it, or its authentication was removed. Use it only if you trust where it was kept.",
};

function noteMissingKey({ elsewhere, authentication }: RestoreReport, output: Output): void {
  const note = authenticationNotes[authentication];
  if (note !== undefined) output.note(note);
  if (!elsewhere.includes(secretKeyFile)) return;
  output.note(
    `The key that secrets and access keys are sealed with is not in the backup: set STORE_SECRET_KEY, or put ${secretKeyFile} into the data directory.`,
  );
}
