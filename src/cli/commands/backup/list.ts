// `store backup list`: lists the backups on an S3 service.
import { listBackups } from "../../../maintenance.ts";
import type { Invocation } from "../../framework/command.ts";
import { usageError } from "../../framework/command-error.ts";
import { readBackupKey } from "./key.ts";
import { parseBackupLocation } from "./location.ts";

export async function listBackupsCommand(invocation: Invocation): Promise<void> {
  const { output, options } = invocation;
  const stray = ["to", "keep", "encrypt", "without-secret-key"].find((name) => options.flag(name));
  if (stray !== undefined) throw usageError(`store backup list has no use for --${stray}. Leave it out.`);
  const from = parseBackupLocation(invocation, "--from");
  if (from.kind === "folder") {
    throw usageError("store backup list works with an S3 service: --from s3://host:port/bucket/prefix", [
      `A folder has one backup. Show it: store restore --verify --from DIR`,
    ]);
  }
  const listed = await listBackups({ ...from.service, ...(await readBackupKey(invocation, "none")) });
  if (output.isJson) {
    return output.json(
      listed.map(({ backup, time, totals }) => ({ backup, made: time, ...(totals ?? { isDamaged: true }) })),
    );
  }
  if (listed.length === 0) output.note("No backup is complete yet.");
  await output.table(
    [
      { name: "TIME" },
      { name: "OBJECTS", align: "right" },
      { name: "SIZE", align: "right" },
      { name: "BACKUP" },
    ],
    listed.map(({ backup, time, totals }) => [
      output.time(time),
      totals === undefined ? "damaged" : String(totals.objects),
      totals === undefined ? "-" : output.bytes(totals.bytes),
      backup,
    ]),
  );
}
