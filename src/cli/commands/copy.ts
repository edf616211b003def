// `store copy`: moves a whole store between data directories and clusters, and compares both sides.
import type { CopyFinding, CopyReport } from "../../model/copy.ts";
import { formatLocation } from "../../model/location.ts";
import { copyStore } from "../../open.ts";
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
  summary: "Move a whole store into another place, or go on with that",
  details:
    "Buckets, objects with their versions, uploads, secrets and access keys arrive as they are. Cut off, the same command\n" +
    "goes on. Then both sides are compared, every byte read back: exit code 1 when they differ. Nothing may write into\n" +
    "the source meanwhile, and nothing opens the target before it is complete. A side that is not named is the store\n" +
    "that commands here work on: so a password need not be typed.",
  usage: ["--from PLACE --to PLACE", "--from PLACE", "--to PLACE"],
  options: {
    from: { value: "PLACE", summary: "the store to copy: a folder, or postgres://… with --from-blobs" },
    "from-blobs": { value: "URL", summary: "where its bytes lie: s3://… or file:///…" },
    to: { value: "PLACE", summary: "where it goes, new or empty: a folder, or postgres://… with --to-blobs" },
    "to-blobs": { value: "URL", summary: "where the bytes go: s3://… or file:///…" },
    verify: { summary: "only compare both sides; nothing is written" },
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
      throw usageError(
        "Both sides are the same store: a copy needs two.",
        "Name another with --from or --to.",
      );
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
    bucket === undefined ? "(beside the buckets)" : key === undefined ? bucket : `${bucket}/${key}`;
  await output.moreRows(
    [{ name: "WHICH", width: 9 }, { name: "NAME" }, { name: "WHAT" }],
    [[kind, subject, what]],
  );
}

interface CopySummary {
  readonly from: string;
  readonly to: string;
  readonly report: CopyReport;
}

async function printReport(
  { output, options }: Invocation,
  { from, to, report }: CopySummary,
): Promise<void> {
  if (output.isJson) return output.line(JSON.stringify({ kind: "report", from, to, ...report }));
  const { copiedObjects, damages, differences } = report;
  const { green, red } = output.style;
  const verdict =
    damages + differences === 0
      ? green("Both sides are the same.")
      : red(`${formatCount(damages, "damage")}, ${formatCount(differences, "difference")}.`);
  const what = options.flag("verify") ? "Compared" : "Copied";
  const copiedText = options.flag("verify") ? "" : `: ${copiedObjects} by this run`;
  await output.line(`${what} ${formatTotals(report, output)}${copiedText}. ${verdict}`);
  if (differences > 0 && !options.flag("verify")) {
    output.note("The target stays closed. End what writes into the source, then run the same command again.");
  }
}
