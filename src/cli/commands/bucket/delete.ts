// `store bucket delete`: deletes a bucket, with --force after removing everything in it.

import { createCredentials } from "../../../access/keys/credentials.ts";
import type { BucketRecord } from "../../../model/bucket.ts";
import { errorMessage } from "../../../model/errors.ts";
import type { Command, Invocation } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import { formatCount, type Output } from "../../framework/output.ts";
import type { ObjectStore, OpenStore } from "../../store/object-store.ts";
import { withStore } from "../../store/with-store.ts";
import { ask } from "../../terminal/prompt.ts";
import { deleteWithContents, type RemovedContents } from "./delete-contents.ts";

export const deleteCommand: Command = {
  name: "delete",
  summary: "Delete a bucket",
  details:
    "A bucket with objects is only deleted with --force, which deletes its objects and all their versions first.\n" +
    "If versions in it are locked, nothing is deleted, and the message names the locks.",
  usage: ["<name> [--force] [--yes]"],
  options: {
    force: { summary: "delete all objects first; asks for confirmation on a terminal" },
    yes: { summary: "with --force: do not ask for confirmation" },
    "bypass-governance": { summary: "with --force: also delete versions under governance retention" },
  },
  examples: ["store bucket delete photos", "store bucket delete photos --force"],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const [bucket = ""] = parameters;
    const isForced = options.flag("force");
    const bypassGovernance = options.flag("bypass-governance");
    if (bypassGovernance && !isForced) throw usageError("--bypass-governance needs --force.");
    const removed = await withStore(invocation, { absent: "refuse", subject: { bucket } }, async (data) => {
      if (isForced && !options.flag("yes")) await confirm(invocation, data.engine, bucket);
      const existing = await data.engine.bucket(bucket, []);
      const contents = isForced
        ? await deleteWithContents(data.engine, bucket, { bypassGovernance })
        : { objects: 0, versions: 0 };
      if (!isForced) await data.engine.deleteBucket(bucket);
      if (existing !== undefined) await dropGrants(data, existing, output);
      await data.recordAudit("delete bucket", bucket);
      return contents;
    });
    if (output.isJson) {
      const { objects, versions } = removed;
      return output.json({ name: bucket, deleted: true, objects, noncurrentVersions: versions });
    }
    await output.line(`Deleted bucket ${output.style.bold(bucket)}${contentsText(removed)}.`);
  },
};

function contentsText({ objects, versions }: RemovedContents): string {
  const parts = [
    ...(objects > 0 ? [formatCount(objects, "object")] : []),
    ...(versions > 0 ? [formatCount(versions, "noncurrent version")] : []),
  ];
  return parts.length === 0 ? "" : ` and ${parts.join(" and ")} in it`;
}

/** Removes grants on a deleted bucket. A failure is only a warning: the grants have no effect. */
async function dropGrants(
  { documents, secretKey }: OpenStore,
  bucket: BucketRecord,
  output: Output,
): Promise<void> {
  // A service removes its own grants.
  if (documents === undefined || secretKey === undefined) return;
  try {
    await createCredentials(documents, secretKey, Date.now).dropGrants(bucket);
  } catch (error) {
    const reason = errorMessage(error);
    output.note(`warning: store key list still shows grants on ${bucket.name}: ${reason}`);
  }
}

/** Asks for confirmation only on a terminal; in a script, --force is the confirmation. */
async function confirm({ output }: Invocation, engine: ObjectStore, bucket: string): Promise<void> {
  const { objects, bytes, noncurrentVersions, noncurrentBytes } = await engine.totals(bucket);
  if (objects + noncurrentVersions === 0 || !process.stdin.isTTY) return;
  const versions =
    noncurrentVersions === 0
      ? ""
      : ` and ${formatCount(noncurrentVersions, "noncurrent version")} (${output.size(noncurrentBytes)})`;
  output.note(
    `This permanently deletes ${formatCount(objects, "object")} (${output.size(bytes)})${versions}.`,
  );
  const typed = await ask(process.stdin, output, "Type the name of the bucket to delete it: ");
  if (typed !== bucket) throw new CommandError("The name does not match; nothing was deleted.");
}
