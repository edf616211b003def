// `store sync`: synchronizes a folder to a bucket, or a bucket to a folder.
import { StoreError } from "../../model/errors.ts";
import type { Command, Invocation } from "../framework/command.ts";
import { CommandError } from "../framework/command-error.ts";
import { escapeControls } from "../framework/output.ts";
import { type Data, withData } from "../store/open-store.ts";
import { runTransfer, type TransferProgress } from "../terminal/transfer-progress.ts";
import { printTransferEvent, printTransferReport, transferLabel } from "../transfer/report.ts";
import { listObjects, newSyncCounts, type SyncCounts, sync } from "../transfer/sync/sync.ts";
import { parseSyncEndpoints, realFolder, type SyncEndpoints } from "./sync-arguments.ts";

export const syncCommand: Command = {
  name: "sync",
  summary: "Synchronize a folder to a bucket, or a bucket to a folder",
  details:
    "Copies files or objects that are missing or different in the target, compared by size and MD5. A folder starts\n" +
    "with ./ or /, a bucket does not. Failed keys are reported, the others continue, and the exit code is 1. Run the\n" +
    "same command again to resume an interrupted sync.",
  usage: ["<folder> <bucket>[/prefix] [--delete] [--dry-run]", "<bucket>[/prefix] <folder>"],
  options: {
    delete: {
      summary:
        "delete files or objects that exist only in the target; a versioned bucket keeps their versions",
    },
    "dry-run": { summary: "only show what would be done" },
    "size-only": { summary: "compare sizes only, without reading files" },
  },
  examples: [
    "store sync ./pictures photos/2026",
    "store sync photos/2026 ./pictures --delete --dry-run",
    "store sync /srv/www site --delete --json",
  ],
  async run(invocation) {
    const endpoints = parseSyncEndpoints(invocation.parameters);
    const counts = newSyncCounts();
    const { bucket } = endpoints;
    await withData(invocation, { absent: "refuse", subject: { bucket } }, (data) =>
      runTransfer(invocation.output, (progress, signal) =>
        runSync(invocation, data, { endpoints, counts, progress, signal }),
      ),
    );
    const isDryRun = invocation.options.flag("dry-run");
    await printTransferReport(invocation.output, { ...toReport(endpoints), isDryRun, counts });
    return counts.failed === 0 ? 0 : 1;
  },
};

interface SyncRun {
  readonly endpoints: SyncEndpoints;
  readonly counts: SyncCounts;
  readonly progress: TransferProgress;
  readonly signal: AbortSignal;
}

async function runSync(
  invocation: Invocation,
  data: Data,
  { endpoints, counts, progress, signal }: SyncRun,
): Promise<void> {
  const { options, output } = invocation;
  const { engine, location, tidy } = data;
  const { to, bucket, prefix } = endpoints;
  const isDryRun = options.flag("dry-run");
  const deletes = options.flag("delete");
  if ((await engine.bucket(bucket)) === undefined) throw new StoreError("NoSuchBucket");
  if (to === "folder" && deletes) await refuseEmptySource({ engine, bucket, prefix }, endpoints);
  const absent = to === "bucket" ? "refuse" : isDryRun ? "pretend" : "create";
  const { folder, except } = await realFolder(invocation, endpoints.folder, { absent, location });
  progress.expect(() => transferLabel(counts));
  const eventOptions = { copy: to === "bucket" ? "put" : "get", bucket, isDryRun };
  try {
    await sync(
      {
        ...{ engine, bucket, prefix, folder, except, to, isDryRun, deletes, signal },
        sizeOnly: options.flag("size-only"),
        onBytes: progress.advance,
        onEvent: (event) => printTransferEvent(output, event, eventOptions),
      },
      counts,
    );
  } finally {
    if (to === "bucket" && !isDryRun && counts.copied + counts.deleted > 0) await tidy();
  }
}

/** Refuses a prefix without objects: with --delete, a mistyped prefix would empty the folder. */
async function refuseEmptySource(
  objects: Parameters<typeof listObjects>[0],
  { folder }: SyncEndpoints,
): Promise<void> {
  for await (const _ of listObjects(objects)) return;
  const { bucket, prefix } = objects;
  throw new CommandError(
    `"${escapeControls(`${bucket}/${prefix}`)}" contains no objects, so --delete would empty "${folder}".`,
    { hint: `Check the prefix: store object list ${bucket} --delimiter /` },
  );
}

function toReport({ to, folder, bucket, prefix }: SyncEndpoints) {
  const address = `${bucket}/${prefix}`;
  return to === "bucket"
    ? ({ verbs: ["Uploaded", "Would upload"], noun: "file", from: folder, to: address } as const)
    : ({ verbs: ["Downloaded", "Would download"], noun: "object", from: address, to: folder } as const);
}
