// `store import`: imports objects from a folder, an S3 service, or miniflare's state.
import { realpath } from "node:fs/promises";
import { StoreError } from "../../model/errors.ts";
import type { Command, Invocation } from "../framework/command.ts";
import { usageError } from "../framework/command-error.ts";
import { formatCount } from "../framework/output.ts";
import { prefixAddress } from "../store/object-address.ts";
import { type Data, withData } from "../store/open-store.ts";
import { runTransfer } from "../terminal/transfer-progress.ts";
import { type ImportCounts, importObjects } from "../transfer/import/import.ts";
import type { ImportSource } from "../transfer/import/source.ts";
import { printTransferEvent, printTransferReport, transferLabel } from "../transfer/report.ts";
import { newSyncCounts, sync } from "../transfer/sync/sync.ts";
import { realFolder } from "./files/folder-argument.ts";
import { type ImportOrigin, parseImportOrigin } from "./import-arguments.ts";

export const importCommand: Command = {
  name: "import",
  summary: "Import objects from a folder, an S3 service or miniflare",
  details:
    "Objects keep their content type and metadata, and their bytes are verified against the source's checksums.\n" +
    "Unchanged objects are skipped, so run the same command again to resume an interrupted import. Credentials for\n" +
    "an S3 service come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.",
  usage: ["<from> <bucket>[/prefix] [--dry-run] [--source-bucket NAME]"],
  options: {
    "dry-run": { summary: "only show what would be imported" },
    "source-bucket": { value: "NAME", summary: "name of the bucket in miniflare, if it differs" },
  },
  examples: [
    "store import ./pictures photos/2026",
    "store import https://s3.example.com/old-photos photos",
    "store import miniflare:.wrangler photos",
  ],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const from = parseImportOrigin(invocation);
    if (options.text("source-bucket") !== undefined && from.kind !== "miniflare") {
      throw usageError("--source-bucket only works with miniflare:");
    }
    const { bucket, prefix } = prefixAddress(parameters[1] ?? "");
    const to = { bucket, prefix: prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/` };
    const counts: ImportCounts = { ...newSyncCounts(), unverified: 0 };
    await withData(invocation, { absent: "refuse", subject: { bucket } }, (data) =>
      runTransfer(output, (progress, signal) => {
        progress.expect(() => transferLabel(counts));
        return runImport(invocation, data, { from, to, counts, signal, onBytes: progress.advance });
      }),
    );
    const isDryRun = options.flag("dry-run");
    await printTransferReport(output, {
      ...{ verbs: ["Imported", "Would import"], noun: "object", isDryRun, counts },
      to: `${to.bucket}/${to.prefix}`,
    });
    if (counts.unverified > 0 && !output.isJson) {
      output.note(
        `The source has no checksum for ${formatCount(counts.unverified, "object")}; only the size was compared.`,
      );
    }
    return counts.failed === 0 ? 0 : 1;
  },
};

interface ImportRun {
  readonly from: ImportOrigin;
  readonly to: { readonly bucket: string; readonly prefix: string };
  readonly counts: ImportCounts;
  readonly signal: AbortSignal;
  onBytes(count: number): void;
}

async function runImport(
  invocation: Invocation,
  data: Data,
  { from, to, counts, signal, onBytes }: ImportRun,
): Promise<void> {
  const { engine, location, tidy } = data;
  if ((await engine.bucket(to.bucket)) === undefined) throw new StoreError("NoSuchBucket");
  const isDryRun = invocation.options.flag("dry-run");
  const eventOptions = { copy: "put", bucket: to.bucket, isDryRun };
  const onEvent = (event: Parameters<typeof printTransferEvent>[1]) =>
    printTransferEvent(invocation.output, event, eventOptions);
  const shared = { engine, ...to, isDryRun, signal, onBytes, onEvent };
  try {
    if (from.kind === "folder") {
      const isDirectory = typeof location === "string" && location !== "memory:";
      const except = isDirectory ? await realpath(location) : undefined;
      const folder = await realFolder(invocation, from.folder, { absent: "refuse", except });
      const options = { to: "bucket", deletes: false, sizeOnly: false, verifies: true } as const;
      await sync({ ...shared, ...options, folder, except }, counts);
      return;
    }
    const source = await openSource(invocation, from, to.bucket);
    try {
      await importObjects({ ...shared, source }, counts);
    } finally {
      source.close();
    }
  } finally {
    if (!isDryRun && counts.copied + counts.failed > 0) await tidy();
  }
}

async function openSource(
  { options }: Invocation,
  from: Exclude<ImportOrigin, { kind: "folder" }>,
  bucket: string,
): Promise<ImportSource> {
  if (from.kind === "s3") return (await import("../transfer/import/s3-source.ts")).openS3Source(from);
  const { openMiniflareSource } = await import("../transfer/import/miniflare-source.ts");
  return openMiniflareSource({ ...from, bucket: options.text("source-bucket") ?? bucket });
}
