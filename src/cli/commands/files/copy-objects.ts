// `store cp` and `store mv`: copy or move files and objects.
import type { Command, Invocation } from "../../framework/command.ts";
import { filterOptions, parseFilter } from "../../store/glob.ts";
import { withStores } from "../../store/stores.ts";
import { copyAll } from "../../transfer/files/copy.ts";
import { printTransferReport } from "../../transfer/report.ts";
import { newSyncCounts } from "../../transfer/sync/sync.ts";

const usage = ["<from> <to> [--recursive] [--dry-run]"];

const options = {
  recursive: { summary: "everything below a folder or prefix", short: "r" },
  ...filterOptions,
  "dry-run": { summary: "only show what would be done" },
} as const;

const forms =
  "A side is a path (./cat.jpg), an object (photos/cat.jpg or s3://photos/cat.jpg), or an object of a profile\n" +
  "(work:photos/cat.jpg). A pattern such as 'photos/2026/*.jpg' names several objects.";

export const cpCommand: Command = {
  name: "cp",
  summary: "Copy files and objects, to and from buckets, services and stdin",
  details: `${forms} Use - for standard input or\noutput. Inside one service, the service copies by itself. Failed items are reported, the others continue, and\nthe exit code is 1.`,
  usage,
  options,
  examples: [
    "store cp cat.jpg photos/2026/",
    "store cp photos/2026/ ./pictures --recursive --include '*.jpg'",
    "store cp 'photos/2026/*.jpg' s3://archive/2026/",
    "store cp photos/notes.txt -",
  ],
  run: (invocation) => run(invocation, "copy"),
};

export const mvCommand: Command = {
  name: "mv",
  summary: "Move files and objects: copy, verify, then delete the source",
  details: `${forms} A source is deleted only after\nits copy was verified, and only if it is still what was copied.`,
  usage,
  options,
  examples: [
    "store mv photos/cat.jpg photos/2026/cat.jpg",
    "store mv photos/2025/ archive/2025/ --recursive --dry-run",
  ],
  run: (invocation) => run(invocation, "move"),
};

async function run(invocation: Invocation, action: "copy" | "move"): Promise<number> {
  const { parameters, output } = invocation;
  const [source = "", target = ""] = parameters;
  const filter = parseFilter(invocation.options);
  const isDryRun = invocation.options.flag("dry-run");
  const counts = newSyncCounts();
  const isPrinted = await withStores(invocation, async (stores) => {
    const from = await stores.resolve(source, "existing");
    const to = await stores.resolve(target, "new file");
    const request = {
      ...{ from, to, filter, isDryRun, isMove: action === "move" },
      isRecursive: invocation.options.flag("recursive"),
    };
    await copyAll(invocation, stores, { request, counts });
    return to.kind === "stream";
  });
  if (!isPrinted) {
    const verbs =
      action === "move" ? (["Moved", "Would move"] as const) : (["Copied", "Would copy"] as const);
    await printTransferReport(output, {
      verbs,
      noun: "item",
      from: source,
      to: target,
      isDryRun,
      compares: false,
      counts,
    });
  }
  return counts.failed === 0 ? 0 : 1;
}
