// `store quota …`: limits what a bucket or all buckets of an account may contain.
import { checkAccount } from "../../../access/keys/new-credential.ts";
import type { Quota } from "../../../model/settings/quota.ts";
import type { Command, CommandGroup, Invocation } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import type { Output } from "../../framework/output.ts";
import { parseSize, parseWholeNumber } from "../../framework/size-argument.ts";
import { type QuotaState, type Target, withQuotas } from "./quota-store.ts";

const accountOption = {
  account: { value: "NAME", summary: "the account, instead of a bucket" },
} as const;

const setCommand: Command = {
  name: "set",
  summary: "Limit the bytes and the objects of a bucket or an account",
  details:
    "All versions count, and delete markers count as objects. A write that would exceed the quota is refused;\n" +
    "deletes are not. The quota replaces an earlier one.",
  usage: ["<bucket> [--bytes SIZE] [--objects N]", "--account NAME [--bytes SIZE] [--objects N]"],
  options: {
    ...accountOption,
    bytes: { value: "SIZE", summary: "maximum size, such as 500MB, 10GB or 1.5TiB" },
    objects: { value: "N", summary: "maximum number of objects and versions" },
  },
  examples: [
    "store quota set photos --bytes 10GB --objects 1000000",
    "store quota set --account team --bytes 1TB",
  ],
  async run(invocation) {
    const target = readTarget(invocation);
    const quota = readQuota(invocation);
    await changeQuota(invocation, target, quota);
    await printState(invocation, target);
  },
};

const showCommand: Command = {
  name: "show",
  summary: "Show the quota of a bucket or an account, and what is used",
  usage: ["<bucket>", "--account NAME"],
  options: accountOption,
  examples: ["store quota show photos", "store quota show --account team"],
  run: (invocation) => printState(invocation, readTarget(invocation)),
};

const removeCommand: Command = {
  name: "remove",
  summary: "Remove the quota of a bucket or an account",
  usage: ["<bucket>", "--account NAME"],
  options: accountOption,
  examples: ["store quota remove photos"],
  async run(invocation) {
    const { output } = invocation;
    const target = readTarget(invocation);
    await changeQuota(invocation, target, undefined);
    if (output.isJson) await output.json({ ...target, quota: null });
    else await output.line(`Removed the quota of ${describe(target, output)}.`);
  },
};

const listCommand: Command = {
  name: "list",
  summary: "List all quotas and what is used of them",
  usage: [""],
  options: {},
  examples: ["store quota list"],
  async run(invocation) {
    const { output } = invocation;
    const states = await withQuotas(invocation, undefined, (quotas) => quotas.list());
    if (output.isJson) return output.json(states.map(toJson));
    if (states.length === 0)
      output.note("There are no quotas. Set one: store quota set <bucket> --bytes SIZE");
    await output.table(
      ["KIND", "NAME", "BYTES", "MAX BYTES", "OBJECTS", "MAX OBJECTS"].map((name) => ({ name })),
      states.map(({ target, quota, usage }) => [
        ...("bucket" in target ? ["bucket", target.bucket] : ["account", target.account]),
        output.bytes(usage.bytes),
        quota?.bytes === undefined ? "no limit" : output.bytes(quota.bytes),
        String(usage.objects),
        String(quota?.objects ?? "no limit"),
      ]),
    );
  },
};

export const quotaCommands: CommandGroup = {
  name: "quota",
  summary: "Limit what buckets and accounts may contain",
  commands: [setCommand, showCommand, listCommand, removeCommand],
};

function readTarget({ parameters, options }: Invocation): Target {
  const [bucket] = parameters;
  const account = options.text("account");
  if ((bucket === undefined) === (account === undefined))
    throw usageError("Name either a bucket or an account.", "Write a bucket, or --account NAME.");
  if (account === undefined) return { bucket: bucket! };
  try {
    checkAccount(account);
  } catch (error) {
    throw usageError((error as Error).message);
  }
  return { account };
}

function readQuota({ options }: Invocation): Quota {
  const [bytes, objects] = [options.text("bytes"), options.text("objects")];
  if (bytes === undefined && objects === undefined)
    throw usageError("A quota needs --bytes SIZE, --objects N, or both.");
  return {
    ...(bytes === undefined ? {} : { bytes: parseSize("--bytes", bytes) }),
    ...(objects === undefined ? {} : { objects: parseWholeNumber("--objects", objects) }),
  };
}

async function changeQuota(invocation: Invocation, target: Target, quota: Quota | undefined): Promise<void> {
  await withQuotas(invocation, target, async (quotas) => {
    const previous = await quotas.find(target);
    if (quota === undefined && previous === undefined)
      throw new CommandError("There is no quota to remove; nothing was changed.");
    await quotas.change(target, quota);
  });
}

async function printState(invocation: Invocation, target: Target): Promise<void> {
  const { output } = invocation;
  const state = await withQuotas(invocation, target, (quotas) => quotas.read(target));
  if (output.isJson) return output.json(toJson(state));
  const { quota, usage } = state;
  await output.fields([
    ["bucket" in target ? "bucket" : "account", "bucket" in target ? target.bucket : target.account],
    [
      "size",
      `${output.bytes(usage.bytes)} of ${quota?.bytes === undefined ? "no limit" : output.bytes(quota.bytes)}`,
    ],
    ["objects", `${usage.objects} of ${quota?.objects ?? "no limit"}`],
  ]);
}

function toJson({ target, quota, usage }: QuotaState) {
  return { ...target, quota: quota ?? null, usage };
}

function describe(target: Target, output: Output): string {
  return "bucket" in target
    ? `bucket ${output.name(target.bucket)}`
    : `account ${output.name(target.account)}`;
}
