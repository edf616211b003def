// `store bucket restore`: brings the objects of a bucket back to their state at a time.
import type { Engine } from "../../../engine/engine.ts";
import type { Key } from "../../../model/key.ts";
import type { Command, Invocation } from "../../framework/command.ts";
import { usageError } from "../../framework/command-error.ts";
import { runInterruptible } from "../../framework/interrupt.ts";
import { formatCount, type Output } from "../../framework/output.ts";
import { shellWord } from "../../framework/shell-quote.ts";
import { parsePastTime, pastTimeRule } from "../../framework/time-argument.ts";
import { type Data, withData } from "../../store/open-store.ts";
import { startProgress } from "../../terminal/progress.ts";

export const restoreCommand: Command = {
  name: "restore",
  summary: "Bring the objects of a versioned bucket back to their state at a time",
  details:
    "Objects that were changed or deleted since get their earlier version again, and objects that did not exist are\n" +
    "deleted, both by new versions: nothing is lost, and a restore can be undone by another one. No bytes are copied.\n" +
    "An interrupted restore can be run again with the same time; objects that are already restored stay unchanged.",
  usage: ["<bucket> --at TIME [--prefix TEXT] [--dry-run]"],
  options: {
    at: { value: "TIME", summary: `the time to return to: ${pastTimeRule}` },
    prefix: { value: "TEXT", summary: "only keys with this prefix" },
    "dry-run": { summary: "only show what would be done" },
  },
  examples: [
    "store bucket restore photos --at 2h --dry-run",
    "store bucket restore photos --at 2026-11-15T12:00:00Z --prefix 2026/",
  ],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const [bucket = ""] = parameters;
    const at = options.text("at");
    if (at === undefined) throw usageError("store bucket restore needs a time: --at TIME");
    const time = parsePastTime("--at", at);
    const request = { bucket, time, prefix: options.text("prefix"), isDryRun: options.flag("dry-run") };
    const report = await withData(invocation, { absent: "refuse", subject: { bucket } }, (data) =>
      restore(invocation, data, request),
    );
    if (output.isJson) await output.json(toJson(request, report));
    else await print(output, request, report);
  },
};

interface RestoreRequest {
  readonly bucket: string;
  readonly time: number;
  readonly prefix: string | undefined;
  readonly isDryRun: boolean;
}

interface RestoreReport {
  restored: number;
  deleted: number;
  unchanged: number;
  /** The first keys that were or would be changed. */
  readonly changes: { readonly action: "restore" | "delete"; readonly key: Key }[];
}

/** Number of keys that a dry run lists. */
const maxListedKeys = 20;

async function restore(
  { output }: Invocation,
  { engine, recordAudit }: Data,
  request: RestoreRequest,
): Promise<RestoreReport> {
  const report: RestoreReport = { restored: 0, deleted: 0, unchanged: 0, changes: [] };
  const progress = startProgress(output, { label: () => progressLabel(request, report), shows: "label" });
  try {
    await runInterruptible((signal) => restorePages(engine, request, report, signal));
  } catch (error) {
    progress.end();
    if (report.restored + report.deleted > 0 && !request.isDryRun)
      output.note(`Only a part was restored. Resume it: ${commandText(request)}`);
    throw error;
  } finally {
    progress.end();
    if (report.restored + report.deleted > 0 && !request.isDryRun)
      await recordAudit("restore bucket", request.bucket);
  }
  return report;
}

async function restorePages(
  engine: Engine,
  { bucket, ...options }: RestoreRequest,
  report: RestoreReport,
  signal: AbortSignal,
): Promise<void> {
  let cursor: string | undefined;
  do {
    signal.throwIfAborted();
    const page = await engine.restorePage(bucket, { ...options, cursor });
    report.restored += page.restored.length;
    report.deleted += page.deleted.length;
    report.unchanged += page.unchanged;
    const changes = [
      ...page.restored.map((key) => ({ action: "restore", key }) as const),
      ...page.deleted.map((key) => ({ action: "delete", key }) as const),
    ];
    report.changes.push(...changes.slice(0, maxListedKeys - report.changes.length));
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/** The command with an absolute time: a relative time means another time when it is run again. */
function commandText({ bucket, time, prefix }: RestoreRequest): string {
  const rest = prefix === undefined ? "" : ` --prefix ${shellWord(prefix)}`;
  return `store bucket restore ${bucket} --at ${new Date(time).toISOString()}${rest}`;
}

function progressLabel({ bucket }: RestoreRequest, { restored, deleted, unchanged }: RestoreReport): string {
  return `restore ${bucket}: ${restored} restored, ${deleted} deleted, ${unchanged} unchanged`;
}

async function print(output: Output, request: RestoreRequest, report: RestoreReport): Promise<void> {
  const { bucket, time, isDryRun } = request;
  const { restored, deleted, unchanged, changes } = report;
  if (isDryRun) {
    await output.table(
      [{ name: "ACTION" }, { name: "KEY" }],
      changes.map(({ action, key }) => [action, key]),
    );
    const rest = restored + deleted - changes.length;
    if (rest > 0) output.note(`… and ${rest} more.`);
  }
  const [restore, remove] = isDryRun ? ["Would restore", "delete"] : ["Restored", "deleted"];
  const what = `${restore} ${formatCount(restored, "object")} and ${remove} ${deleted}`;
  await output.line(
    `${what} in bucket ${output.name(bucket)}, as of ${output.time(time)}; ${unchanged} unchanged.`,
  );
  if (isDryRun && changes.length > 0) output.note(`Nothing was changed. Restore: ${commandText(request)}`);
}

function toJson({ bucket, time, prefix, isDryRun }: RestoreRequest, report: RestoreReport) {
  const { restored, deleted, unchanged, changes } = report;
  const counts = { restored, deleted, unchanged };
  const at = new Date(time).toISOString();
  return { bucket, at, prefix: prefix ?? "", isDryRun, ...counts, ...(isDryRun ? { changes } : {}) };
}
