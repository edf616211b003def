// Copies or moves everything a source names, several items at a time. A failed item is reported,
// and the others continue.
import { stat } from "node:fs/promises";
import { forEachLimit } from "../../../async/for-each-limit.ts";
import type { Invocation } from "../../framework/command.ts";
import { usageError } from "../../framework/command-error.ts";
import { toCommandError } from "../../framework/failures.ts";
import type { NameFilter } from "../../store/glob.ts";
import type { Side, Stores } from "../../store/stores.ts";
import { runTransfer, type TransferProgress } from "../../terminal/transfer-progress.ts";
import { printTransferEvent, transferLabel } from "../report.ts";
import { isFatal, type SyncCounts, type TransferEvent } from "../sync/sync.ts";
import { copyItem } from "./copy-item.ts";
import { findSources, type SourceItem } from "./sources.ts";
import { type CopyTarget, openTarget } from "./targets.ts";

export interface CopyRequest {
  readonly from: Side;
  readonly to: Side;
  readonly isMove: boolean;
  readonly isRecursive: boolean;
  readonly isDryRun: boolean;
  readonly filter: NameFilter;
}

const concurrency = 8;

export async function copyAll(
  invocation: Invocation,
  stores: Stores,
  { request, counts }: { readonly request: CopyRequest; readonly counts: SyncCounts },
): Promise<void> {
  refuseSides(request);
  const { output } = invocation;
  await runTransfer(output, (progress, signal) =>
    runCopy(invocation, stores, { request, counts, progress, signal }),
  );
}

function refuseSides({ from, to, isMove, isRecursive }: CopyRequest): void {
  if (from.kind !== "object" && to.kind !== "object") {
    throw usageError("One side must be in a bucket: this command does not copy between files.", [
      "Write an object as bucket/key or s3://bucket/key.",
    ]);
  }
  if (isMove && (from.kind === "stream" || to.kind === "stream")) {
    throw usageError("Standard input and output cannot be moved.", "Use: store cp");
  }
  if (isRecursive && (from.kind === "stream" || to.kind === "stream")) {
    throw usageError("--recursive cannot be combined with - for standard input or output.");
  }
  if (from.kind === "stream" && to.kind === "object" && (to.key === "" || to.key.endsWith("/"))) {
    throw usageError(`"${to.text}" has no key.`, `For example: ${to.text.replace(/\/?$/, "/")}notes.txt`);
  }
}

interface CopyRun {
  readonly request: CopyRequest;
  readonly counts: SyncCounts;
  readonly progress: TransferProgress;
  readonly signal: AbortSignal;
}

async function runCopy(
  invocation: Invocation,
  stores: Stores,
  { request, counts, progress, signal }: CopyRun,
): Promise<void> {
  const { output, directory } = invocation;
  const { from, to, isMove, isDryRun } = request;
  const except = stores.dataDirectory();
  const { isMany, items } = await findSources(from, { ...request, except, directory });
  const target = await openTarget(to, { isMany, isDryRun, directory, except, signal });
  if (target.kind !== "stream") progress.expect(() => transferLabel(counts));
  const bucket = from.kind === "object" ? from.bucket : to.kind === "object" ? to.bucket : "";
  const report = (event: TransferEvent) => {
    // The object itself goes to stdout.
    if (target.kind === "stream" && event.kind === "copy") return Promise.resolve();
    return printTransferEvent(output, event, { copy: isMove ? "move" : "copy", bucket, isDryRun });
  };
  try {
    await forEachLimit(items, { concurrency, signal }, async (item) => {
      const key = displayName(from, item);
      if (item.kind === "passed") {
        counts.passed++;
        return report({ ...item, key });
      }
      try {
        if (item.kind === "failed") throw item.error;
        const context = { output, signal, isMove, onBytes: progress.advance };
        const size = isDryRun ? await plannedSize(item) : await copyItem(item, target, context);
        counts.copied++;
        counts.bytes += size;
        await report({ kind: "copy", key, size });
      } catch (error) {
        signal.throwIfAborted();
        const mapped = toCommandError(error, { bucket, key });
        if (isFatal(error) || !isMany) throw mapped;
        counts.failed++;
        await report({ kind: "failed", key, error: mapped });
      }
    });
  } finally {
    await finish(target, request, counts);
  }
}

function displayName(from: Side, item: SourceItem): string {
  if (item.kind === "object") return item.record.key;
  return item.name === "" ? from.text : item.name;
}

async function plannedSize(item: SourceItem): Promise<number> {
  if (item.kind === "object") return item.record.size;
  if (item.kind !== "file") return 0;
  return (await stat(item.path)).size;
}

async function finish(
  target: CopyTarget,
  { from, to, isDryRun }: CopyRequest,
  counts: SyncCounts,
): Promise<void> {
  if (isDryRun || counts.copied + counts.failed === 0) return;
  if (target.kind === "file") await target.finish();
  const stores = [from, to].flatMap((side) => (side.kind === "object" ? [side.store] : []));
  for (const store of new Set(stores)) await store.tidy();
}
