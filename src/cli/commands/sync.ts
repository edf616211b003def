// `store sync`: makes a bucket like a folder, or a folder like a bucket.
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
  summary: "Make a bucket like a folder, or a folder like a bucket",
  details:
    "Copies what the second side lacks or has otherwise. A folder is written with ./ or / at its beginning, a bucket without.\n" +
    "Files and objects are the same when size and MD5 are. What fails is a line with its key, the others go on, and the exit\n" +
    "code is 1. Cut off at any moment, the same command goes on.",
  usage: ["<folder> <bucket>[/prefix] [--delete] [--dry-run]", "<bucket>[/prefix] <folder>"],
  options: {
    delete: { summary: "delete what only the second side has" },
    "dry-run": { summary: "only tell what would be done" },
    "size-only": { summary: "take files and objects of the same size for the same, without reading them" },
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

/** A prefix that was mistyped would empty the folder. */
async function refuseEmptySource(
  objects: Parameters<typeof listObjects>[0],
  { folder }: SyncEndpoints,
): Promise<void> {
  for await (const _ of listObjects(objects)) return;
  const { bucket, prefix } = objects;
  throw new CommandError(
    `There is nothing in "${escapeControls(`${bucket}/${prefix}`)}": with --delete that would empty "${folder}".`,
    { hint: `See what there is: store object list ${bucket} --delimiter /` },
  );
}

function toReport({ to, folder, bucket, prefix }: SyncEndpoints) {
  const address = `${bucket}/${prefix}`;
  return to === "bucket"
    ? ({ verbs: ["Uploaded", "Would upload"], noun: "file", from: folder, to: address } as const)
    : ({ verbs: ["Downloaded", "Would download"], noun: "object", from: address, to: folder } as const);
}
