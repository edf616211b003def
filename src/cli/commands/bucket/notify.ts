// `store bucket notify …`: manages notification rules of a bucket and shows their delivery state.

import { parseDuration } from "../../../access/grants.ts";
import type { Documents } from "../../../engine/records.ts";
import { NotificationError, UnboundScriptError } from "../../../events/rule-check.ts";
import {
  createNotificationRules,
  type ListedRule,
  type NotificationRules,
  openSecret,
} from "../../../events/rules.ts";
import { createWebhook } from "../../../events/webhook.ts";
import { createWebhookClient } from "../../../events/webhook-client.ts";
import { StoreError } from "../../../model/errors.ts";
import { dayMilliseconds } from "../../../model/limits.ts";
import { isScriptName, scriptNameRule } from "../../../model/names/script-name.ts";
import type { NotificationRule } from "../../../model/settings/notification.ts";
import type { ScriptBuckets } from "../../../servers/server-record.ts";
import { findVerb } from "../../framework/arguments.ts";
import type { Command, Invocation } from "../../framework/command.ts";
import { CommandError, parseOrUsageError, usageError } from "../../framework/command-error.ts";
import { formatCount, type Output } from "../../framework/output.ts";
import { knownScripts } from "../../serve/record/known-scripts.ts";
import { notificationSetting } from "../../settings/s3-settings.ts";
import { findSettingVerb, runSetting, settingUsage, settingVerbs } from "../../settings/setting.ts";
import { type Data, withData } from "../../store/open-store.ts";

const defaultKeep = 7 * dayMilliseconds;

export const notifyCommand: Command = {
  name: "notify",
  summary: "Notify a webhook or a script when objects are created or deleted",
  details:
    "Events are stored together with the write, and a running server delivers them at least once, in order for each\n" +
    "key. A webhook receives S3 event messages by POST, signed with a secret that is shown once. A script receives\n" +
    "them in its notification handler. Failed deliveries are retried with increasing delays, for the time of --keep.",
  usage: [
    "add <bucket> --webhook URL",
    "add <bucket> --script NAME",
    "list <bucket>",
    "test <bucket> <rule>",
    "remove <bucket> <rule>",
    ...settingUsage,
  ],
  options: {
    webhook: { value: "URL", summary: "URL that receives the events" },
    script: { value: "NAME", summary: "script whose notification handler is called" },
    event: {
      value: "EVENT",
      summary: "create, delete, expire, or an S3 event name; default: all",
      repeatable: true,
    },
    prefix: { value: "TEXT", summary: "only keys with this prefix" },
    suffix: { value: "TEXT", summary: "only keys with this suffix, such as .jpg" },
    id: { value: "NAME", summary: "name of the rule; default: generated" },
    force: { summary: "add the rule also for a script that is not known here yet" },
    keep: {
      value: "TIME",
      summary: "how long to retry failed deliveries, such as 3d or forever; default: 7d",
    },
  },
  examples: [
    "store bucket notify add photos --webhook https://example.com/hook --event create --suffix .jpg",
    "store bucket notify add photos --script thumbnails --event create",
    "store bucket notify list photos",
  ],
  async run(invocation) {
    const document = findSettingVerb(invocation.parameters);
    if (document !== undefined) {
      const setting = notificationSetting((documents) => knownScripts(invocation, documents));
      return runSetting(invocation, setting, document);
    }
    const [verb = "", bucket, rule] = invocation.parameters;
    const run = findVerb(verbs, "bucket notify", verb, settingVerbs);
    const isAboutRule = verb === "test" || verb === "remove";
    if (bucket === undefined) throw usageError(`store bucket notify ${verb} needs a bucket.`);
    if (isAboutRule && rule === undefined) {
      throw usageError(
        `store bucket notify ${verb} needs a rule.`,
        `List rules: store bucket notify list ${bucket}`,
      );
    }
    if (!isAboutRule && rule !== undefined)
      throw usageError(`store bucket notify ${verb} does not expect "${rule}".`);
    await run(invocation, bucket, rule ?? "");
  },
};

const verbs = { add, list, test, remove };

async function add(invocation: Invocation, bucket: string): Promise<void> {
  const { options, output } = invocation;
  const target = parseTarget(invocation);
  const keep = parseKeep(options.text("keep"));
  const { rule, secret } = await withRules(invocation, bucket, async (rules, recordAudit) => {
    const added = await rules.add(bucket, {
      id: options.text("id"),
      events: options.texts("event"),
      prefix: options.text("prefix"),
      suffix: options.text("suffix"),
      target,
      keep,
      isEarly: options.flag("force"),
    });
    await recordAudit("change notifications", bucket);
    return added;
  });
  if (output.isJson) return output.json({ ...ruleJson(rule), ...(secret === undefined ? {} : { secret }) });
  await output.fields([
    ["rule", rule.id],
    ["events", rule.events.join(" ")],
    ["keys", keysText(rule)],
    ["target", targetText(rule)],
    ...(secret === undefined ? [] : [["secret", secret] as [string, string]]),
  ]);
  if (secret !== undefined) output.note("Save the secret now: it is not shown again. It signs the messages.");
  noteRefusal(output, rule);
}

async function list(invocation: Invocation, bucket: string): Promise<void> {
  const { output } = invocation;
  const rules = await withRules(invocation, bucket, (all) => all.list(bucket));
  if (output.isJson) return output.json(rules.map(listedJson));
  if (rules.length === 0)
    output.note(
      `The bucket ${bucket} has no notification rules. Add one: store bucket notify add ${bucket} --webhook URL`,
    );
  const names = ["RULE", "EVENTS", "KEYS", "TARGET", "WAITING", "LAST DELIVERED", "LAST FAILURE"];
  await output.table(
    names.map((name) => ({ name })),
    rules.map(({ rule, waiting, progress }) => [
      rule.id,
      rule.events.join(" "),
      keysText(rule),
      targetText(rule),
      String(waiting),
      progress.lastDelivered === undefined ? "never" : output.time(progress.lastDelivered),
      failureText(output, progress),
    ]),
  );
}

async function remove(invocation: Invocation, bucket: string, id: string): Promise<void> {
  const { output } = invocation;
  const isRemoved = await withRules(invocation, bucket, async (rules, recordAudit) => {
    const isDone = await rules.remove(bucket, id);
    if (isDone) await recordAudit("change notifications", bucket);
    return isDone;
  });
  if (!isRemoved) throw noSuchRule(bucket, id);
  if (output.isJson) await output.json({ bucket, rule: id, removed: true });
  else await output.line(`Removed rule ${output.name(id)} of bucket ${output.name(bucket)}.`);
}

async function test(invocation: Invocation, bucket: string, id: string): Promise<void> {
  const { output } = invocation;
  const options = { absent: "refuse", subject: { bucket } } as const;
  const shown = await withData(invocation, options, async ({ engine, secretKey }) => {
    const found = await engine.bucket(bucket);
    if (found === undefined) throw new StoreError("NoSuchBucket");
    const rule = found.settings.notifications?.find((one) => one.id === id);
    if (rule === undefined) throw noSuchRule(bucket, id);
    const { target } = rule;
    if (target.kind === "script") {
      throw new CommandError(`The rule "${id}" calls a script, which only a server can run.`, {
        hint: "Put an object and check the server's log.",
      });
    }
    const secret = openSecret(secretKey(), bucket, rule);
    // Who runs this command may reach from this machine what it can; the server may not.
    const client = createWebhookClient({ allow: "all" });
    const sender = { bucket, rule: id };
    const webhook = createWebhook({ url: target.url, secret, sender, client, now: Date.now });
    try {
      await webhook.test();
      return webhook.displayName;
    } catch (error) {
      throw new CommandError(
        `The webhook at ${webhook.displayName} did not accept the test message: ${(error as Error).message}.`,
        { cause: error },
      );
    } finally {
      webhook.close();
    }
  });
  if (output.isJson) await output.json({ bucket, rule: id, delivered: true });
  else await output.line(`The webhook at ${shown} accepted the test message.`);
}

/** A server delivers to public addresses only, unless it was started with --webhook-allow. */
function noteRefusal(output: Output, { target }: NotificationRule): void {
  if (target.kind === "webhook" && createWebhookClient({ allow: [] }).refusal(target.url) !== undefined)
    output.note(`This host is not public: start the server with --webhook-allow ${new URL(target.url).host}`);
}

async function withRules<T>(
  invocation: Invocation,
  bucket: string,
  work: (rules: NotificationRules, recordAudit: Data["recordAudit"]) => Promise<T>,
): Promise<T> {
  const listScripts = (documents: Documents) => knownScripts(invocation, documents);
  const run = async ({ engine, documents, secretKey, recordAudit }: Data) => {
    const rules = createNotificationRules({ engine, documents, secretKey, listScripts });
    try {
      return await work(rules, recordAudit);
    } catch (error) {
      throw error instanceof UnboundScriptError ? withScripts(error, await listScripts(documents)) : error;
    }
  };
  try {
    return await withData(invocation, { absent: "refuse", subject: { bucket } }, run);
  } catch (error) {
    throw error instanceof NotificationError ? usageError(error.message) : error;
  }
}

function parseTarget({ options }: Invocation) {
  const [url, name] = [options.text("webhook"), options.text("script")];
  if ((url === undefined) === (name === undefined)) {
    throw usageError("Specify exactly one target: --webhook URL or --script NAME");
  }
  if (url !== undefined) return { kind: "webhook", url } as const;
  if (!isScriptName(name!))
    throw usageError(`"${name}" is not a valid script name.`, `Use ${scriptNameRule}.`);
  return { kind: "script", name: name! } as const;
}

/** Lists the scripts that exist: a user of this command can read their configuration anyway. */
function withScripts({ message }: UnboundScriptError, scripts: readonly ScriptBuckets[]): CommandError {
  const names = new Set(
    scripts.map(({ name, buckets }) => `${name} (${buckets.join(", ") || "no buckets"})`),
  );
  return new CommandError(message, {
    hint: [
      ...(names.size === 0 ? [] : [`Scripts: ${[...names].join(", ")}`]),
      "To add the rule before the script exists: --force",
    ],
  });
}

function parseKeep(text: string | undefined): number | undefined {
  if (text === undefined) return defaultKeep;
  if (text === "forever") return undefined;
  return parseOrUsageError(() => parseDuration(text));
}

function noSuchRule(bucket: string, id: string): CommandError {
  return new CommandError(`The bucket "${bucket}" has no rule "${id}".`, {
    hint: `List its rules: store bucket notify list ${bucket}`,
  });
}

function keysText({ prefix, suffix }: NotificationRule): string {
  return prefix === "" && suffix === "" ? "all" : `${prefix}*${suffix}`;
}

function targetText({ target }: NotificationRule): string {
  return target.kind === "webhook" ? target.url : `script ${target.name}`;
}

function failureText(output: Output, { lastFailure, dropped }: ListedRule["progress"]): string {
  const failure =
    lastFailure === undefined ? "none" : `${output.time(lastFailure.time)}: ${lastFailure.what}`;
  return dropped === 0 ? failure : `${failure}; ${formatCount(dropped, "event")} dropped`;
}

/** Converts a rule for --json, without its encrypted secret. */
function ruleJson({ target, keep, ...rule }: NotificationRule) {
  const { kind } = target;
  const shown = kind === "webhook" ? { webhook: target.url } : { script: target.name };
  return { ...rule, ...shown, keepMilliseconds: keep ?? null };
}

function listedJson({ rule, waiting, progress }: ListedRule) {
  const { delivered, dropped, lastDelivered, lastFailure } = progress;
  const iso = (time: number | undefined) => (time === undefined ? null : new Date(time).toISOString());
  return {
    ...ruleJson(rule),
    waiting,
    delivered,
    dropped,
    lastDelivered: iso(lastDelivered),
    lastFailure: lastFailure === undefined ? null : { time: iso(lastFailure.time), what: lastFailure.what },
  };
}
