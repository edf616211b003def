// Events, progress label and final report of the commands that move data.
import { errorMessage } from "../../model/errors.ts";
import { toCommandError } from "../framework/failures.ts";
import { escapeControls, formatCount, type Output } from "../framework/output.ts";
import { clearProgressLine } from "../terminal/progress.ts";
import type { SyncCounts, TransferEvent } from "./sync/sync.ts";

export interface TransferEventOptions {
  /** Verb for a copied object: "put" or "get". */
  readonly copy: string;
  readonly bucket: string;
  readonly isDryRun: boolean;
}

export async function printTransferEvent(
  output: Output,
  event: TransferEvent,
  { copy, bucket, isDryRun }: TransferEventOptions,
): Promise<void> {
  const { kind, key } = event;
  if (kind === "failed" || kind === "passed") {
    const error = kind === "failed" ? toCommandError(event.error, { bucket, key }) : undefined;
    const why = kind === "passed" ? event.why : errorMessage(error);
    if (output.isJson) return output.line(JSON.stringify({ kind, key, why }));
    const { red, bold, yellow } = output.noteStyle;
    const label = kind === "failed" ? red(bold("failed:")) : yellow("skipped:");
    clearProgressLine(output);
    output.note(`${label} ${escapeControls(`${key}: ${why}`)}`);
    return;
  }
  const action = kind === "delete" ? "delete" : copy;
  const size = kind === "copy" ? event.size : undefined;
  if (output.isJson) return output.line(JSON.stringify({ kind: action, key, size }));
  if (!isDryRun) return;
  const columns = [
    { name: "ACTION", width: 6 },
    { name: "SIZE", align: "right", width: 10 } as const,
    { name: "KEY" },
  ];
  await output.moreRows(columns, [[action, size === undefined ? "-" : output.bytes(size), key]]);
}

/** Label of the progress line. */
export function transferLabel({ same, copied, deleted, failed }: SyncCounts): string {
  const rest = [deleted > 0 ? `, ${deleted} deleted` : "", failed > 0 ? `, ${failed} failed` : ""];
  return `${same} unchanged, ${copied} copied${rest.join("")}`;
}

export interface TransferReport {
  /** Verbs of a real run and of a dry run: "Imported", "Would import". */
  readonly verbs: readonly [done: string, planned: string];
  readonly noun: string;
  /** Name of the source; undefined when it may contain a secret. */
  readonly from?: string;
  readonly to: string;
  readonly isDryRun: boolean;
  /** False for a copy, which does not look for unchanged objects. */
  readonly compares?: boolean;
  readonly counts: SyncCounts;
}

export async function printTransferReport(output: Output, report: TransferReport): Promise<void> {
  const { verbs, noun, from, to, isDryRun, compares = true, counts } = report;
  if (output.isJson) return output.line(JSON.stringify({ kind: "report", from, to, isDryRun, ...counts }));
  const { copied, bytes, same, deleted, passed, failed } = counts;
  const source = from === undefined ? "" : ` from ${output.name(from)}`;
  const facts = [
    ...(compares ? [`${same} unchanged`] : []),
    ...(deleted > 0 ? [`${deleted} ${isDryRun ? "to delete" : "deleted"}`] : []),
    ...(passed > 0 ? [`${passed} skipped`] : []),
    ...(failed > 0 ? [output.style.red(`${failed} failed`)] : []),
  ];
  await output.line(
    `${verbs[isDryRun ? 1 : 0]} ${formatCount(copied, noun)} (${output.size(bytes)})${source} to ${output.name(to)}${facts.length === 0 ? "" : ": "}${facts.join(", ")}.`,
  );
}

/** Formats the contents of a whole store as part of a sentence. */
export function formatTotals(
  { buckets, objects, bytes }: { readonly buckets: number; readonly objects: number; readonly bytes: number },
  output: Output,
): string {
  return `${formatCount(buckets, "bucket")}, ${formatCount(objects, "object")}, ${output.size(bytes)}`;
}

/** Formats the result of a check that counts damaged items. */
export function formatVerdict(damages: number, { style }: Output): string {
  return damages === 0
    ? style.green("No damage found.")
    : style.red(`Found ${formatCount(damages, "damaged item")}.`);
}
