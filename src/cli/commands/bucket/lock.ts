// `store bucket lock …`: manages the lock rules of a bucket, which keep objects from deletion by prefix.
import { randomBytes } from "node:crypto";
import type { Engine } from "../../../engine/engine.ts";
import type { LockCondition, LockRule } from "../../../model/lock.ts";
import { findVerb } from "../../framework/arguments.ts";
import type { Command, Invocation, ParsedOptions } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import { formatCount, type Output } from "../../framework/output.ts";
import { parseFutureTime } from "../../framework/time-argument.ts";
import { lockSetting } from "../../settings/own-settings.ts";
import { findSettingVerb, runSetting, settingUsage, settingVerbs } from "../../settings/setting.ts";
import { type Data, withData } from "../../store/open-store.ts";
import { requireBucket } from "../../store/require-bucket.ts";
import { parseDays } from "../../store/retention-options.ts";

const daySeconds = 24 * 60 * 60;
const maxRules = 1000;
const idShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

export const lockCommand: Command = {
  name: "lock",
  summary: "Keep the objects below a prefix from being deleted or replaced",
  details:
    "While a lock rule applies to an object, its versions cannot be removed. Without versioning, the object can\n" +
    "neither be deleted nor replaced. A rule applies to existing and new objects, until it ends or is removed.",
  usage: [
    "add <bucket> --days N [--prefix TEXT]",
    "add <bucket> --until TIME",
    "add <bucket> --indefinite",
    "list <bucket>",
    "remove <bucket> <rule>",
    ...settingUsage,
  ],
  options: {
    prefix: { value: "TEXT", summary: "only keys with this prefix; default: all keys" },
    days: { value: "N", summary: "lock each version for this many days after it was written" },
    until: { value: "TIME", summary: "lock until 2027-01-31T12:00:00Z, 2027-01-31, or 30d from now" },
    indefinite: { summary: "lock until the rule is removed" },
    id: { value: "NAME", summary: "name of the rule; default: generated" },
  },
  examples: [
    "store bucket lock add backups --prefix daily/ --days 30",
    "store bucket lock add backups --prefix contracts/ --until 2030-01-01 --id contracts",
    "store bucket lock list backups",
    "store bucket lock remove backups contracts",
    "store bucket lock set backups locks.json",
  ],
  async run(invocation) {
    const document = findSettingVerb(invocation.parameters);
    if (document !== undefined) return runSetting(invocation, lockSetting, document);
    const [verb = "", bucket, rule] = invocation.parameters;
    const run = findVerb(verbs, "bucket lock", verb, settingVerbs);
    if (bucket === undefined) throw usageError(`store bucket lock ${verb} needs a bucket.`);
    if (verb === "remove" && rule === undefined) {
      throw usageError(
        "store bucket lock remove needs a rule.",
        `List rules: store bucket lock list ${bucket}`,
      );
    }
    if (verb !== "remove" && rule !== undefined)
      throw usageError(`store bucket lock ${verb} does not expect "${rule}".`);
    await run(invocation, bucket, rule ?? "");
  },
};

const verbs = { add, list, remove };

async function add(invocation: Invocation, bucket: string): Promise<void> {
  const { options, output } = invocation;
  const id = options.text("id") ?? randomBytes(4).toString("hex");
  if (!idShape.test(id))
    throw usageError(`Rule name "${id}" is not valid: use up to 63 letters, digits, dots, dashes.`);
  const condition = parseCondition(options);
  const rule: LockRule = { id, isEnabled: true, prefix: options.text("prefix") ?? "", condition };
  await changeRules(invocation, bucket, (rules) => {
    if (rules.some((one) => one.id === id))
      throw usageError(`Rule "${id}" already exists: choose another name.`);
    if (rules.length >= maxRules)
      throw new CommandError(
        `The bucket already has the maximum of ${maxRules} lock rules: remove one first.`,
      );
    return [...rules, rule];
  });
  if (output.isJson) return output.json(toJson(rule));
  await output.fields([
    ["rule", id],
    ["keys", keysText(rule)],
    ["locked", lockedText(output, rule)],
  ]);
}

async function list(invocation: Invocation, bucket: string): Promise<void> {
  const { output } = invocation;
  const rules = await withData(invocation, { absent: "refuse", subject: { bucket } }, async ({ engine }) => {
    const { settings } = await requireBucket(engine, bucket);
    return settings.lockRules ?? [];
  });
  if (output.isJson) return output.json(rules.map(toJson));
  if (rules.length === 0)
    output.note(`The bucket ${bucket} has no lock rules. Add one: store bucket lock add ${bucket} --days N`);
  await output.table(
    [{ name: "RULE" }, { name: "KEYS" }, { name: "LOCKED" }],
    rules.map((rule) => [rule.id, keysText(rule), lockedText(output, rule)]),
  );
}

async function remove(invocation: Invocation, bucket: string, id: string): Promise<void> {
  const { output } = invocation;
  await changeRules(invocation, bucket, (rules) => {
    const others = rules.filter((rule) => rule.id !== id);
    if (others.length < rules.length) return others;
    throw new CommandError(`The bucket "${bucket}" has no lock rule "${id}".`, {
      hint: `List its rules: store bucket lock list ${bucket}`,
    });
  });
  if (output.isJson) await output.json({ bucket, rule: id, removed: true });
  else await output.line(`Removed lock rule ${output.name(id)} of bucket ${output.name(bucket)}.`);
}

type MakeRules = (rules: readonly LockRule[]) => readonly LockRule[];

async function changeRules(invocation: Invocation, bucket: string, make: MakeRules): Promise<void> {
  const run = async ({ engine, recordAudit }: Data) => {
    await commitRules(engine, bucket, make);
    await recordAudit("change lock rules", bucket);
  };
  await withData(invocation, { absent: "refuse", subject: { bucket } }, run);
}

/** Commits the rules that `make` returns and retries after a conflict. */
async function commitRules(engine: Engine, bucket: string, make: MakeRules): Promise<void> {
  for (;;) {
    const { settings } = await requireBucket(engine, bucket);
    const rules = make(settings.lockRules ?? []);
    const changes = { lockRules: rules.length === 0 ? undefined : rules };
    if ((await engine.changeSettings(bucket, changes, settings)) === "committed") return;
  }
}

function parseCondition(options: ParsedOptions): LockCondition {
  const [days, until] = [options.text("days"), options.text("until")];
  const isIndefinite = options.flag("indefinite");
  if ([days !== undefined, until !== undefined, isIndefinite].filter(Boolean).length !== 1)
    throw usageError("Specify exactly one duration: --days N, --until TIME or --indefinite");
  if (days !== undefined) return { kind: "age", seconds: parseDays(days) * daySeconds };
  if (until !== undefined) return { kind: "date", date: parseFutureTime("--until", until) };
  return { kind: "indefinite" };
}

function keysText({ prefix }: LockRule): string {
  return prefix === "" ? "all" : `${prefix}*`;
}

function lockedText(output: Output, { condition, isEnabled }: LockRule): string {
  const suffix = isEnabled ? "" : " (disabled)";
  if (condition.kind === "indefinite") return `until the rule is removed${suffix}`;
  if (condition.kind === "date") return `until ${output.time(condition.date)}${suffix}`;
  return `for ${ageText(condition.seconds)} after a write${suffix}`;
}

/** Rules from other clients may have an age that is not a whole number of days. */
function ageText(seconds: number): string {
  return seconds % daySeconds === 0
    ? formatCount(seconds / daySeconds, "day")
    : formatCount(seconds, "second");
}

function toJson({ id, isEnabled, prefix, condition }: LockRule) {
  const until = condition.kind === "date" ? new Date(condition.date).toISOString() : undefined;
  const seconds = condition.kind === "age" ? condition.seconds : undefined;
  return { id, isEnabled, prefix, seconds, until, isIndefinite: condition.kind === "indefinite" };
}
