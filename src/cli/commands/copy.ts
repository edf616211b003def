// `store copy`: copies a whole store between data directories and clusters, then compares both.
import { copyStore } from "../../maintenance.ts";
import type { CopyFinding, CopyReport } from "../../model/copy.ts";
import { formatLocation } from "../../model/names/location.ts";
import type { Command, Invocation } from "../framework/command.ts";
import { usageError } from "../framework/command-error.ts";
import { toCommandError } from "../framework/failures.ts";
import { formatCount, type Output } from "../framework/output.ts";
import { resolveCopyEndpoints } from "../store/copy-endpoints.ts";
import { carrySecretKey } from "../store/copy-secret-key.ts";
import { clearProgressLine } from "../terminal/progress.ts";
import { runTransfer } from "../terminal/transfer-progress.ts";
import { formatTotals } from "../transfer/report.ts";

export const copyCommand: Command = {
  name: "copy",
  summary: "Copy a whole store to another location, or resume a copy",
  details:
    "Copies buckets, objects with their versions, uploads, secrets and access keys, then reads every byte back and\n" +
    "compares both stores; the exit code is 1 if they differ. Run the same command again to resume an interrupted\n" +
    "copy. Stop all writers to the source first. The target cannot be opened until the copy is complete. Without\n" +
    "--from or --to, that side is the default store of this folder or environment.",
  usage: ["--from LOCATION --to LOCATION", "--from LOCATION", "--to LOCATION"],
  options: {
    from: { value: "LOCATION", summary: "source: a folder, or postgres://… with --from-blobs" },
    "from-blobs": { value: "URL", summary: "bytes of the source cluster: s3://… or file:///…" },
    to: { value: "LOCATION", summary: "target, new or empty: a folder, or postgres://… with --to-blobs" },
    "to-blobs": { value: "URL", summary: "bytes of the target cluster: s3://… or file:///…" },
    verify: { summary: "only compare both stores; write nothing" },
  },
  examples: [
    "store copy --from .store --to /mnt/large/store",
    "store copy --from .store --to postgres://store@db1,db2/store --to-blobs file:///mnt/shared/store",
    "store copy --from .store",
    "store copy --to /mnt/large/store --verify",
  ],
  async run(invocation) {
    const { output, options } = invocation;
    const { from, to } = await resolveCopyEndpoints(invocation);
    if (JSON.stringify(from) === JSON.stringify(to)) {
      throw usageError("Source and target are the same store.", "Name another store with --from or --to.");
    }
    const only = options.flag("verify") ? "verify" : undefined;
    const onFinding = (finding: CopyFinding) => printFinding(output, finding);
    try {
      const report = await runTransfer(output, (progress, signal) =>
        copyStore({ from, to, only, signal, progress, onFinding }),
      );
      if (only === undefined) carrySecretKey(invocation, { from, to, report });
      await printReport(invocation, { from: formatLocation(from), to: formatLocation(to), report });
      return report.damages + report.differences === 0 ? 0 : 1;
    } catch (error) {
      const isCluster = typeof from !== "string" || typeof to !== "string";
      throw toCommandError(error, { storeKind: isCluster ? "cluster" : undefined });
    }
  },
};

async function printFinding(output: Output, finding: CopyFinding): Promise<void> {
  clearProgressLine(output);
  const { kind, bucket, key, what } = finding;
  if (output.isJson) {
    const found = { kind, bucket: bucket ?? null, key: key ?? null, what };
    return output.line(JSON.stringify(found));
  }
  const subject =
    bucket === undefined ? "(outside buckets)" : key === undefined ? bucket : `${bucket}/${key}`;
  await output.moreRows(
    [{ name: "FINDING", width: 9 }, { name: "NAME" }, { name: "DETAIL" }],
    [[kind, subject, what]],
  );
}

async function printReport(
  { output, options }: Invocation,
  { from, to, report }: { from: string; to: string; report: CopyReport },
): Promise<void> {
  if (output.isJson) return output.line(JSON.stringify({ kind: "report", from, to, ...report }));
  const { copiedObjects, damages, differences } = report;
  const { green, red } = output.style;
  const verdict =
    damages + differences === 0
      ? green("Both stores are identical.")
      : red(`${formatCount(damages, "damaged item")}, ${formatCount(differences, "difference")}.`);
  const what = options.flag("verify") ? "Compared" : "Copied";
  const copiedText = options.flag("verify")
    ? ""
    : `; ${formatCount(copiedObjects, "object")} copied in this run`;
  await output.line(`${what} ${formatTotals(report, output)}${copiedText}. ${verdict}`);
  if (differences > 0 && !options.flag("verify")) {
    output.note(
      "The target cannot be opened yet. Stop all writers to the source, then run the same command again.",
    );
  }
}
