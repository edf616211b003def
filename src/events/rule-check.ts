// Checks what notification rules may contain. Administrators of a bucket add rules, but not scripts:
// a rule may name only a script that its operator has bound to the bucket.
import { parseTargetUrl } from "../http/outbound/target-url.ts";
import { limits } from "../model/limits.ts";
import { eventPatterns, type NotificationRule } from "../model/settings/notification.ts";
import type { ScriptBuckets } from "../servers/server-record.ts";

/** A rule was refused. The message never contains a secret. */
export class NotificationError extends Error {
  override readonly name: string = "NotificationError";
}

/** A rule names a script that does not run, or that is not bound to the bucket. */
export class UnboundScriptError extends NotificationError {
  override readonly name = "UnboundScriptError";
}

export const maxRules = 100;
const idShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** Checks the names and the number of all rules of a bucket. */
export function checkRules(rules: readonly NotificationRule[]): void {
  const ids = new Set(rules.map(({ id }) => id));
  if (ids.size !== rules.length) throw new NotificationError("Two rules have the same name.");
  if (rules.length > maxRules)
    throw new NotificationError(`A bucket has at most ${maxRules} rules: remove one first.`);
  for (const { id, prefix, suffix } of rules) {
    // Longer ones match no key, and every request to the bucket would read them.
    if ([prefix, suffix].some((text) => Buffer.byteLength(text) > limits.keyBytes))
      throw new NotificationError(
        `The prefix or suffix of rule "${id.slice(0, 63)}" has more than ${limits.keyBytes} bytes: no key is that long.`,
      );
    if (!idShape.test(id)) {
      throw new NotificationError(
        `Rule name "${id}" is not valid: use up to 63 letters, digits, dots, dashes.`,
      );
    }
  }
}

export interface RuleChange {
  readonly before: readonly NotificationRule[];
  readonly after: readonly NotificationRule[];
}

/**
 * Throws an UnboundScriptError if a changed rule names a script that is not bound to the bucket. The
 * message is the same whether or not a script of that name exists.
 */
export function checkScripts(
  scripts: readonly ScriptBuckets[],
  bucket: string,
  { before, after }: RuleChange,
): void {
  for (const { id, target } of after) {
    if (target.kind !== "script") continue;
    const { name } = target;
    const earlier = before.find((rule) => rule.id === id)?.target;
    if (earlier?.kind === "script" && earlier.name === name) continue;
    if (scripts.some((script) => script.name === name && script.buckets.includes(bucket))) continue;
    throw new UnboundScriptError(
      `There is no script "${name}" that is bound to the bucket "${bucket}"; nothing was changed. ` +
        "Bind the bucket in the configuration of the script, and start its server first.",
    );
  }
}

export const allEvents = eventPatterns.filter((pattern) => pattern.endsWith("*"));

/** Short event names for the command line. */
const shortNames: Readonly<Record<string, string>> = {
  create: "s3:ObjectCreated:*",
  delete: "s3:ObjectRemoved:*",
  expire: "s3:LifecycleExpiration:*",
};

export function parseEventPattern(given: string): string {
  const short = Object.hasOwn(shortNames, given) ? shortNames[given]! : given;
  const name = short.startsWith("s3:") ? short : `s3:${short}`;
  if (eventPatterns.includes(name)) return name;
  const validNames = [...Object.keys(shortNames), ...eventPatterns].join(", ");
  throw new NotificationError(`Unknown event "${given}". Use one of: ${validNames}.`);
}

/** Every request to the bucket reads its rules. */
export const maxWebhookUrl = 2048;

export function parseWebhookUrl(text: string): string {
  if (text.length > maxWebhookUrl)
    throw new NotificationError(`The webhook URL has more than ${maxWebhookUrl} characters: shorten it.`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new NotificationError(
      `"${text}" is not a webhook URL: use https:// or http://, such as https://example.com/hook.`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new NotificationError(
      "A webhook URL must not contain a password: check the signature of the messages instead.",
    );
  }
  url.hash = "";
  if (parseTargetUrl(url.href) === undefined)
    throw new NotificationError(`"${text}" is not a webhook URL: its host or path is not valid.`);
  return url.href;
}
