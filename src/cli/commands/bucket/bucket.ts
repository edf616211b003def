// `store bucket …`: creates, lists, describes and deletes buckets.
import type { Engine } from "../../../engine/engine.ts";
import { type BucketRecord, checkBucketName } from "../../../model/bucket.ts";
import { errorMessage, StoreError } from "../../../model/errors.ts";
import { limits } from "../../../model/limits.ts";
import { checkStorageClass } from "../../../model/object.ts";
import { createCredentials } from "../../../s3/auth/credentials.ts";
import type { Command, CommandGroup, Invocation } from "../../framework/command.ts";
import { CommandError } from "../../framework/command-error.ts";
import { withCommandErrors } from "../../framework/failures.ts";
import { formatCount, type Output } from "../../framework/output.ts";
import { type Data, withData } from "../../store/open-store.ts";
import { ask } from "../../terminal/prompt.ts";
import { notifyCommand } from "./notify.ts";
import { publicCommand } from "./public.ts";

const createCommand: Command = {
  name: "create",
  summary: "Create a bucket",
  usage: ["<name> [--storage-class CLASS]"],
  options: {
    "storage-class": {
      value: "CLASS",
      summary: "storage class of new objects: Standard (default) or InfrequentAccess",
    },
  },
  examples: ["store bucket create photos", "store bucket create archive --storage-class InfrequentAccess"],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const [bucket = ""] = parameters;
    const storageClass = options.text("storage-class") ?? "Standard";
    // Check the name first, so that an invalid name does not create a data directory.
    withCommandErrors({ bucket }, () => {
      checkBucketName(bucket);
      checkStorageClass(storageClass);
    });
    const record = await withData(invocation, { absent: "create", subject: { bucket } }, async (data) => {
      const made = await data.engine.createBucket(bucket, { storageClass });
      await data.recordAudit("create bucket", bucket);
      return made;
    });
    if (output.isJson) await output.json(bucketJson(record));
    else await output.line(`Created bucket ${output.style.bold(bucket)}.`);
  },
};

const listCommand: Command = {
  name: "list",
  summary: "List all buckets",
  usage: [""],
  options: {},
  examples: ["store bucket list", "store bucket list --json"],
  async run(invocation) {
    const { output } = invocation;
    const buckets = await withData(invocation, { absent: "refuse" }, ({ engine }) => engine.listBuckets());
    if (output.isJson) return output.json(buckets.map(bucketJson));
    if (buckets.length === 0) output.note("There are no buckets yet. Create one: store bucket create <name>");
    await output.table(
      [{ name: "NAME" }, { name: "CREATED" }, { name: "STORAGE CLASS" }],
      buckets.map(({ name, created, storageClass }) => [name, output.time(created), storageClass]),
    );
  },
};

const infoCommand: Command = {
  name: "info",
  summary: "Show the number and size of a bucket's objects",
  usage: ["<name>"],
  options: {},
  examples: ["store bucket info photos"],
  async run(invocation) {
    const { parameters, output } = invocation;
    const [bucket = ""] = parameters;
    await withData(invocation, { absent: "refuse", subject: { bucket } }, async ({ engine }) => {
      const record = await engine.bucket(bucket);
      if (record === undefined) throw new StoreError("NoSuchBucket");
      const { objects, bytes } = await engine.totals(bucket);
      if (output.isJson) return output.json({ ...bucketJson(record), objects, bytes });
      await output.fields([
        ["name", bucket],
        ["created", output.time(record.created)],
        ["storage class", record.storageClass],
        ["objects", String(objects)],
        ["size", output.bytes(bytes)],
      ]);
    });
  },
};

const deleteCommand: Command = {
  name: "delete",
  summary: "Delete a bucket",
  details: "A bucket with objects is only deleted with --force, which deletes its objects first.",
  usage: ["<name> [--force] [--yes]"],
  options: {
    force: { summary: "delete all objects first; asks for confirmation on a terminal" },
    yes: { summary: "with --force: do not ask for confirmation" },
  },
  examples: ["store bucket delete photos", "store bucket delete photos --force"],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const [bucket = ""] = parameters;
    const removed = await withData(invocation, { absent: "refuse", subject: { bucket } }, async (data) => {
      const withObjects = options.flag("force");
      if (withObjects && !options.flag("yes")) await confirm(invocation, data.engine, bucket);
      const existing = await data.engine.bucket(bucket);
      const count = withObjects ? await deleteWithObjects(data.engine, bucket) : 0;
      if (!withObjects) await data.engine.deleteBucket(bucket);
      if (existing !== undefined) await dropGrants(data, existing, output);
      await data.recordAudit("delete bucket", bucket);
      return count;
    });
    if (output.isJson) return output.json({ name: bucket, deleted: true, objects: removed });
    const what = removed > 0 ? ` and ${formatCount(removed, "object")} in it` : "";
    await output.line(`Deleted bucket ${output.style.bold(bucket)}${what}.`);
  },
};

export const bucketCommands: CommandGroup = {
  name: "bucket",
  summary: "Create, list and delete buckets",
  commands: [createCommand, listCommand, infoCommand, publicCommand, notifyCommand, deleteCommand],
};

/** Removes grants on a deleted bucket. A failure is only a warning: the grants have no effect. */
async function dropGrants(data: Data, bucket: BucketRecord, output: Output): Promise<void> {
  try {
    await createCredentials(data.documents, data.secretKey, Date.now).dropGrants(bucket);
  } catch (error) {
    const reason = errorMessage(error);
    output.note(`warning: store key list still shows grants on ${bucket.name}: ${reason}`);
  }
}

function bucketJson({ name, created, storageClass }: BucketRecord) {
  return { name, created: new Date(created).toISOString(), storageClass };
}

/** Asks for confirmation only on a terminal; in a script, --force is the confirmation. */
async function confirm({ output }: Invocation, engine: Engine, bucket: string): Promise<void> {
  const { objects, bytes } = await engine.totals(bucket);
  if (objects === 0 || !process.stdin.isTTY) return;
  output.note(`This permanently deletes ${formatCount(objects, "object")} (${output.size(bytes)}).`);
  const typed = await ask(process.stdin, output, "Type the name of the bucket to delete it: ");
  if (typed !== bucket) throw new CommandError("The name does not match; nothing was deleted.");
}

/** Maximum number of attempts to empty a bucket while other processes write to it. */
const maxRounds = 10;

async function deleteWithObjects(engine: Engine, bucket: string): Promise<number> {
  let removed = 0;
  for (let round = 1; ; round++) {
    removed += await deleteAllObjects(engine, bucket);
    try {
      await engine.deleteBucket(bucket);
      return removed;
    } catch (error) {
      if (!(error instanceof StoreError && error.reason === "BucketNotEmpty")) throw error;
      if (round < maxRounds) continue;
      throw new CommandError(`The bucket "${bucket}" is filled faster than it can be emptied.`, {
        hint: "Stop all writers, then try again.",
        cause: error,
      });
    }
  }
}

async function deleteAllObjects(engine: Engine, bucket: string): Promise<number> {
  let removed = 0;
  for (;;) {
    const { objects } = await engine.list(bucket, { limit: limits.deleteKeys });
    if (objects.length === 0) return removed;
    await engine.delete(
      bucket,
      objects.map(({ key }) => key),
    );
    removed += objects.length;
  }
}
