// `store rm`: deletes an object, or all objects below a prefix or matching a pattern.
import type { Command, Invocation } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import { toCommandError } from "../../framework/failures.ts";
import { escapeControls, formatCount, type Output } from "../../framework/output.ts";
import { filterOptions, isPattern, parseFilter } from "../../store/glob.ts";
import { type ObjectSide, type Stores, withStores } from "../../store/stores.ts";
import { clearProgressLine } from "../../terminal/progress.ts";
import { ask } from "../../terminal/prompt.ts";
import { runTransfer } from "../../terminal/transfer-progress.ts";
import { deleteObjects, deleteVersions, type RemoveEvent } from "../../transfer/files/remove.ts";
import { findSources } from "../../transfer/files/sources.ts";

export const rmCommand: Command = {
  name: "rm",
  summary: "Delete an object, or all objects below a prefix or matching a pattern",
  details:
    "A versioned bucket keeps the versions; --versions removes them for good. Locked objects are kept and reported,\n" +
    "and the exit code is 1. Several objects are deleted only after a confirmation on a terminal, or with --yes.",
  usage: ["<bucket>/<key>", "<bucket>/<prefix> --recursive [--yes] [--dry-run]"],
  options: {
    recursive: { summary: "all objects below the prefix", short: "r" },
    ...filterOptions,
    versions: { summary: "with --recursive: remove all versions and delete markers for good" },
    "bypass-governance": { summary: "with --versions: also remove versions under governance retention" },
    yes: { summary: "do not ask for confirmation", short: "y" },
    "dry-run": { summary: "only show what would be deleted" },
  },
  examples: [
    "store rm photos/cat.jpg",
    "store rm photos/2025/ --recursive",
    "store rm 'photos/tmp/*.part' --yes",
  ],
  async run(invocation) {
    checkOptions(invocation);
    const counts = { deleted: 0, failed: 0 };
    await withStores(invocation, (stores) => remove(invocation, stores, counts));
    await printReport(invocation, counts);
    return counts.failed === 0 ? 0 : 1;
  },
};

function checkOptions({ options }: Invocation): void {
  if (options.flag("versions") && !options.flag("recursive")) {
    throw usageError("--versions needs --recursive.", [
      "To remove one version: store object delete <bucket>/<key> --version ID",
    ]);
  }
  if (options.flag("bypass-governance") && !options.flag("versions"))
    throw usageError("--bypass-governance needs --versions.");
}

interface Counts {
  deleted: number;
  failed: number;
}

async function remove(invocation: Invocation, stores: Stores, counts: Counts): Promise<void> {
  const { options, output, parameters, directory } = invocation;
  const [text = ""] = parameters;
  const side = await stores.resolve(text, "existing");
  if (side.kind !== "object") {
    throw usageError(`"${text}" is not an object: store rm deletes only in buckets.`, [
      "Write bucket/key or s3://bucket/key.",
    ]);
  }
  const [isRecursive, isDryRun] = [options.flag("recursive"), options.flag("dry-run")];
  const filter = parseFilter(options);
  const find = () => findSources(side, { isRecursive, filter, except: undefined, directory });
  if ((isRecursive || isPattern(side.key)) && !isDryRun && !options.flag("yes"))
    await confirm(invocation, side, find);
  const onEvent = (event: RemoveEvent) => printEvent(output, event, { isDryRun, counts });
  await runTransfer(output, async (progress, signal) => {
    progress.expect(() => `${counts.deleted} deleted, ${counts.failed} failed`);
    const request = { side, isDryRun, signal, onEvent };
    try {
      if (options.flag("versions")) {
        await deleteVersions({ ...request, filter, bypassGovernance: options.flag("bypass-governance") });
      } else await deleteObjects(request, (await find()).items);
    } catch (error) {
      throw toCommandError(error, { bucket: side.bucket, key: side.key });
    } finally {
      if (counts.deleted > 0 && !isDryRun) await side.store.tidy();
    }
  });
}

/** Objects that are counted before the question. */
const maxCounted = 1000;

async function confirm(
  { output, parameters, options }: Invocation,
  side: ObjectSide,
  find: () => ReturnType<typeof findSources>,
): Promise<void> {
  if (!process.stdin.isTTY) {
    throw usageError(`Deleting everything that "${side.text}" names needs a confirmation.`, [
      `Show it first: store rm ${parameters[0]}${options.flag("recursive") ? " --recursive" : ""} --dry-run`,
      "Then add --yes.",
    ]);
  }
  let count = 0;
  for await (const _ of (await find()).items) if (++count >= maxCounted) break;
  if (count === 0) return;
  const what = count >= maxCounted ? `${maxCounted} objects or more` : formatCount(count, "object");
  const versions = options.flag("versions") ? " with all versions, for good" : "";
  output.note(`This deletes ${what}${versions}.`);
  const answer = await ask(process.stdin, output, "Type yes to delete: ");
  if (answer !== "yes") throw new CommandError("Not confirmed; nothing was deleted.");
}

async function printEvent(
  output: Output,
  { key, version, error }: RemoveEvent,
  { isDryRun, counts }: { isDryRun: boolean; counts: Counts },
): Promise<void> {
  if (error === undefined) counts.deleted++;
  else counts.failed++;
  const what = version === undefined ? key : `${key} (version ${version})`;
  if (output.isJson) {
    const kind = error === undefined ? "delete" : "failed";
    return output.line(
      JSON.stringify({ kind, key, version, ...(error === undefined ? {} : { why: error }) }),
    );
  }
  if (error === undefined && !isDryRun) return;
  clearProgressLine(output);
  if (error !== undefined) {
    const { red, bold } = output.noteStyle;
    output.note(`${red(bold("failed:"))} ${escapeControls(`${what}: ${error}`)}`);
  } else await output.moreRows([{ name: "ACTION", width: 6 }, { name: "KEY" }], [["delete", what]]);
}

async function printReport(
  { output, options, parameters }: Invocation,
  { deleted, failed }: Counts,
): Promise<void> {
  const isDryRun = options.flag("dry-run");
  if (output.isJson) return output.line(JSON.stringify({ kind: "report", isDryRun, deleted, failed }));
  if (deleted + failed === 0) output.note("Nothing matches; nothing was deleted.");
  const noun = options.flag("versions") ? "version" : "object";
  const failures = failed === 0 ? "" : `, ${output.style.red(`${failed} failed`)}`;
  const verb = isDryRun ? "Would delete" : "Deleted";
  const [text = ""] = parameters;
  const isOne = !options.flag("recursive") && !isPattern(text);
  const what = isOne ? "" : `${formatCount(deleted, noun)} from `;
  await output.line(`${verb} ${what}${output.name(text)}${failures}.`);
}
