// `store sync`: makes a bucket like a folder, or a folder like a bucket.
import { StoreError } from "../../model/errors.ts";
import type { Command, Invocation } from "../framework/command.ts";
import { CommandError } from "../framework/command-error.ts";
import { runInterruptible } from "../framework/interrupt.ts";
import { escapeControls, formatCount } from "../framework/output.ts";
import { type Data, withData } from "../store/open-store.ts";
import { startProgress } from "../terminal/progress.ts";
import { printTransferEvent, transferFacts, transferLabel } from "../transfer/report.ts";
import { listObjects, type SyncCounts, sync } from "../transfer/sync/sync.ts";
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
    const counts: SyncCounts = { copied: 0, bytes: 0, same: 0, deleted: 0, passed: 0, failed: 0 };
    const { bucket } = endpoints;
    await withData(invocation, { absent: "refuse", subject: { bucket } }, (data) =>
      runInterruptible((signal) => runSync(invocation, data, { endpoints, counts, signal })),
    );
    await printReport(invocation, endpoints, counts);
    return counts.failed === 0 ? 0 : 1;
  },
};

interface SyncRun {
  readonly endpoints: SyncEndpoints;
  readonly counts: SyncCounts;
  readonly signal: AbortSignal;
}

async function runSync(
  invocation: Invocation,
  data: Data,
  { endpoints, counts, signal }: SyncRun,
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
  const progress = startProgress(output, { label: () => transferLabel(counts) });
  const eventOptions = { copy: to === "bucket" ? "put" : "get", bucket, isDryRun };
  try {
    await sync(
      {
        ...{ engine, bucket, prefix, folder, except, to, isDryRun, deletes, signal },
        sizeOnly: options.flag("size-only"),
        onBytes: (count) => progress.advance(count),
        onEvent: (event) => printTransferEvent(output, event, eventOptions),
      },
      counts,
    );
  } finally {
    progress.end();
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

async function printReport(
  { output, options }: Invocation,
  endpoints: SyncEndpoints,
  counts: SyncCounts,
): Promise<void> {
  const isDryRun = options.flag("dry-run");
  const { to, folder, bucket, prefix } = endpoints;
  const address = `${bucket}/${prefix}`;
  const [from, into] = to === "bucket" ? [folder, address] : [address, folder];
  if (output.isJson)
    return output.line(JSON.stringify({ kind: "report", from, to: into, isDryRun, ...counts }));
  const { copied, bytes } = counts;
  const done = to === "bucket" ? (isDryRun ? "Would put" : "Put") : isDryRun ? "Would get" : "Got";
  const facts = transferFacts(counts, output, isDryRun);
  const what = `${formatCount(copied, to === "bucket" ? "file" : "object")}, ${output.size(bytes)}`;
  await output.line(`${done} ${what}, from ${output.name(from)} into ${output.name(into)}: ${facts}.`);
}
