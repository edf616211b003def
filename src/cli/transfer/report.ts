// What a sync or an import tells on its way: a line for what failed or was passed by, and, when asked, for all it does.
import { toCommandError } from "../framework/failures.ts";
import type { Output } from "../framework/output.ts";
import { escapeControls } from "../framework/output.ts";
import type { SyncCounts, TransferEvent } from "./sync/sync.ts";

export interface TransferEventOptions {
  /** What a copy is called: "put" or "get". */
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
    const why = kind === "passed" ? event.why : error instanceof Error ? error.message : String(error);
    if (output.isJson) return output.line(JSON.stringify({ kind, key, why }));
    const { red, bold, yellow } = output.noteStyle;
    const label = kind === "failed" ? red(bold("failed:")) : yellow("passed by:");
    // Over the progress, which is drawn anew behind it.
    const clear = output.stderr.isTTY === true ? "\r\u001b[K" : "";
    output.note(`${clear}${label} ${escapeControls(`${key}: ${why}`)}`);
    return;
  }
  const what = kind === "delete" ? "delete" : copy;
  const size = kind === "copy" ? event.size : undefined;
  if (output.isJson) return output.line(JSON.stringify({ kind: what, key, size }));
  if (!isDryRun) return;
  const columns = [
    { name: "WHAT", width: 6 },
    { name: "SIZE", align: "right", width: 10 } as const,
    { name: "KEY" },
  ];
  await output.moreRows(columns, [[what, size === undefined ? "-" : output.bytes(size), key]]);
}

/** For the line of the progress. */
export function transferLabel({ same, copied, deleted, failed }: SyncCounts): string {
  const rest = [deleted > 0 ? `, ${deleted} deleted` : "", failed > 0 ? `, ${failed} failed` : ""];
  return `${same} same, ${copied} copied${rest.join("")}`;
}

export function transferFacts(
  { same, deleted, passed, failed }: SyncCounts,
  output: Output,
  isDryRun: boolean,
): string {
  return [
    `${same} the same`,
    ...(deleted > 0 ? [`${deleted} ${isDryRun ? "to be deleted" : "deleted"}`] : []),
    ...(passed > 0 ? [`${passed} passed by`] : []),
    ...(failed > 0 ? [output.style.red(`${failed} failed`)] : []),
  ].join(", ");
}
