// `store sync`: synchronizes folders and buckets, also of other services.
import type { Command, Invocation } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import { toCommandError } from "../../framework/failures.ts";
import { escapeControls } from "../../framework/output.ts";
import { filterOptions, isPattern, parseFilter } from "../../store/glob.ts";
import { type ObjectSide, type Side, type Stores, withStores } from "../../store/stores.ts";
import { runTransfer, type TransferProgress } from "../../terminal/transfer-progress.ts";
import { syncBuckets } from "../../transfer/files/bucket-sync.ts";
import { printTransferEvent, printTransferReport, transferLabel } from "../../transfer/report.ts";
import {
  listObjects,
  newSyncCounts,
  type SyncCounts,
  sync,
  type TransferEvent,
} from "../../transfer/sync/sync.ts";
import { realFolder } from "./folder-argument.ts";

export const syncCommand: Command = {
  name: "sync",
  summary: "Synchronize a folder and a bucket, or two buckets",
  details:
    "Copies files or objects that are missing or different in the target, compared by size and MD5. A folder starts\n" +
    "with ./ or /, a bucket may start with s3://, and work:photos is a bucket of the profile work. A plain word is\n" +
    "what exists: a folder or a bucket. Failed keys are reported, the others continue, and the exit code is 1. Run\n" +
    "the same command again to resume an interrupted sync.",
  usage: ["<from> <to> [--delete] [--dry-run]"],
  options: {
    delete: {
      summary:
        "delete files or objects that exist only in the target; a versioned bucket keeps their versions",
    },
    "dry-run": { summary: "only show what would be done" },
    "size-only": { summary: "compare sizes only, without reading files" },
    ...filterOptions,
  },
  examples: [
    "store sync ./pictures photos/2026",
    "store sync photos/2026 ./pictures --delete --dry-run",
    "store sync /srv/www site --delete --json",
    "store sync photos work:photos-copy",
  ],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const [source = "", target = ""] = parameters;
    const counts = newSyncCounts();
    const isDryRun = options.flag("dry-run");
    const words = await withStores(invocation, async (stores) => {
      const from = toSyncSide(await stores.resolve(source, "existing"));
      const to = toSyncSide(await stores.resolve(target, "existing"));
      const subject = {
        bucket: from.kind === "object" ? from.bucket : to.kind === "object" ? to.bucket : "",
      };
      try {
        await runTransfer(output, (progress, signal) =>
          runSync(invocation, stores, { from, to, counts, progress, signal }),
        );
      } catch (error) {
        throw toCommandError(error, subject);
      }
      return reportWords(from, to);
    });
    await printTransferReport(output, { ...words, isDryRun, counts });
    return counts.failed === 0 ? 0 : 1;
  },
};

type SyncSide = Exclude<Side, { readonly kind: "stream" }>;

/** A prefix ends with a slash: below "2026" does not mean "2026-old". */
function toSyncSide(side: Side): SyncSide {
  if (side.kind === "stream") throw usageError("Standard input and output cannot be synchronized.");
  if (side.kind === "path") return side;
  if (side.bucket === "") throw usageError(`"${side.text}" has no bucket.`);
  if (isPattern(side.key)) {
    throw usageError(
      `"${side.text}" is a pattern; store sync takes a folder or prefix.`,
      "Use --include PATTERN.",
    );
  }
  return { ...side, key: side.key === "" || side.key.endsWith("/") ? side.key : `${side.key}/` };
}

interface SyncRun {
  readonly from: SyncSide;
  readonly to: SyncSide;
  readonly counts: SyncCounts;
  readonly progress: TransferProgress;
  readonly signal: AbortSignal;
}

async function runSync(invocation: Invocation, stores: Stores, run: SyncRun): Promise<void> {
  const { from, to, counts, progress } = run;
  if (from.kind === "path" && to.kind === "path") {
    throw usageError("Both sides are folders: at least one side must be a bucket.", [
      "A folder starts with ./ or /, a bucket does not.",
      "For example: store sync ./pictures photos/2026",
    ]);
  }
  const buckets = [from, to].flatMap((side) => (side.kind === "object" ? [side] : []));
  for (const side of buckets) await requireBucket(side);
  if (from.kind === "object" && invocation.options.flag("delete")) await refuseEmptySource(from, to);
  progress.expect(() => transferLabel(counts));
  try {
    if (from.kind === "object" && to.kind === "object") await runBucketSync(invocation, { ...run, from, to });
    else await runFolderSync(invocation, stores, run);
  } finally {
    const isChanged = !invocation.options.flag("dry-run") && counts.copied + counts.deleted > 0;
    if (to.kind === "object" && isChanged) await to.store.tidy();
  }
}

async function requireBucket({ store, bucket }: ObjectSide): Promise<void> {
  if ((await store.engine.bucket(bucket, [])) !== undefined) return;
  throw new CommandError(`There is no bucket "${bucket}".`, {
    hint: [`Create it: store bucket create ${bucket}`, "List buckets: store bucket list"],
  });
}

function flags({ options }: Invocation) {
  return {
    isDryRun: options.flag("dry-run"),
    deletes: options.flag("delete"),
    sizeOnly: options.flag("size-only"),
    filter: parseFilter(options),
  };
}

async function runBucketSync(
  invocation: Invocation,
  { from, to, counts, progress, signal }: SyncRun & { readonly from: ObjectSide; readonly to: ObjectSide },
): Promise<void> {
  const isSameStore = from.store === to.store && from.bucket === to.bucket;
  if (isSameStore && (from.key.startsWith(to.key) || to.key.startsWith(from.key))) {
    throw usageError("One side contains the other.", "Choose prefixes of which none contains the other.");
  }
  const { output } = invocation;
  const given = flags(invocation);
  const eventOptions = { copy: "copy", bucket: from.bucket, isDryRun: given.isDryRun };
  const onEvent = (event: TransferEvent) => printTransferEvent(output, event, eventOptions);
  await syncBuckets({ ...given, from, to, output, signal, onBytes: progress.advance, onEvent }, counts);
}

async function runFolderSync(
  invocation: Invocation,
  stores: Stores,
  { from, to, counts, progress, signal }: SyncRun,
): Promise<void> {
  const [path, side] =
    from.kind === "path" ? [from.path, to as ObjectSide] : [(to as { path: string }).path, from];
  const direction = from.kind === "path" ? "bucket" : "folder";
  const given = flags(invocation);
  const absent = direction === "bucket" ? "refuse" : given.isDryRun ? "pretend" : "create";
  const except = stores.dataDirectory();
  const folder = await realFolder(invocation, path, { absent, except });
  const { store, bucket, key: prefix } = side;
  const eventOptions = { copy: direction === "bucket" ? "put" : "get", bucket, isDryRun: given.isDryRun };
  await sync(
    {
      ...given,
      ...{ engine: store.engine, bucket, prefix, folder, except, to: direction, signal },
      onBytes: progress.advance,
      onEvent: (event) => printTransferEvent(invocation.output, event, eventOptions),
    },
    counts,
  );
}

/** Refuses a prefix without objects: with --delete, a mistyped prefix would empty the target. */
async function refuseEmptySource({ store, bucket, key: prefix }: ObjectSide, to: SyncSide): Promise<void> {
  for await (const _ of listObjects({ engine: store.engine, bucket, prefix })) return;
  throw new CommandError(
    `"${escapeControls(`${bucket}/${prefix}`)}" contains no objects, so --delete would empty "${to.text}".`,
    { hint: `Check the prefix: store object list ${bucket} --delimiter /` },
  );
}

function reportWords(from: SyncSide, to: SyncSide) {
  const name = (side: SyncSide) => (side.kind === "path" ? side.path : `${side.bucket}/${side.key}`);
  const names = { from: name(from), to: name(to) };
  if (from.kind === "path") return { verbs: ["Uploaded", "Would upload"], noun: "file", ...names } as const;
  if (to.kind === "path")
    return { verbs: ["Downloaded", "Would download"], noun: "object", ...names } as const;
  return { verbs: ["Copied", "Would copy"], noun: "object", ...names } as const;
}
