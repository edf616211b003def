// `store bucket …`: creates and lists buckets, and the commands of other files.
import { type BucketRecord, checkBucketName } from "../../../model/bucket.ts";
import { checkStorageClass } from "../../../model/object.ts";
import { listPublicBuckets } from "../../../public/publications.ts";
import type { Command, CommandGroup } from "../../framework/command.ts";
import { withCommandErrors } from "../../framework/failures.ts";
import { withStore } from "../../store/with-store.ts";
import { deleteCommand } from "./delete.ts";
import { bucketQuotaCommand, corsCommand, lifecycleCommand } from "./documents.ts";
import { bucketEncryptionCommand } from "./encryption.ts";
import { bucketJson, infoCommand } from "./info.ts";
import { lockCommand } from "./lock.ts";
import { notifyCommand } from "./notify.ts";
import { objectLockCommand } from "./object-lock.ts";
import { policyCommand } from "./policy.ts";
import { publicCommand } from "./public.ts";
import { restoreCommand } from "./restore.ts";
import { tagsCommand } from "./tags.ts";
import { versioningCommand } from "./versioning.ts";

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
    const record = await withStore(invocation, { absent: "create", subject: { bucket } }, async (data) => {
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
    const { buckets, published } = await withStore(invocation, { absent: "refuse" }, async (store) => ({
      buckets: await store.engine.listBuckets(),
      published:
        store.documents && new Set((await listPublicBuckets(store.documents)).map(({ bucket }) => bucket)),
    }));
    const access = ({ name }: BucketRecord) => (published?.has(name) ? "public" : "private");
    if (output.isJson) {
      const rows = buckets.map((bucket) => ({
        ...bucketJson(bucket),
        ...(published === undefined ? {} : { public: published.has(bucket.name) }),
      }));
      return output.json(rows);
    }
    if (buckets.length === 0) output.note("There are no buckets yet. Create one: store bucket create <name>");
    await output.table(
      ["NAME", "CREATED", "STORAGE CLASS", ...(published === undefined ? [] : ["ACCESS"])].map((name) => ({
        name,
      })),
      buckets.map((bucket) => [
        ...[bucket.name, output.time(bucket.created), bucket.storageClass],
        ...(published === undefined ? [] : [access(bucket)]),
      ]),
    );
  },
};

export const bucketCommands: CommandGroup = {
  name: "bucket",
  summary: "Create, list and delete buckets, and change their settings",
  commands: [
    createCommand,
    listCommand,
    infoCommand,
    publicCommand,
    lifecycleCommand,
    corsCommand,
    notifyCommand,
    versioningCommand,
    bucketEncryptionCommand,
    restoreCommand,
    objectLockCommand,
    lockCommand,
    bucketQuotaCommand,
    tagsCommand,
    policyCommand,
    deleteCommand,
  ],
};
