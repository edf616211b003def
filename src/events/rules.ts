// Creates, checks, lists and deletes the notification rules of a bucket. The secret of a webhook is
// returned once, when its rule is created, and stored sealed.
import { randomBytes } from "node:crypto";
import type { Engine } from "../engine/engine.ts";
import type { Documents } from "../engine/records.ts";
import { parseTargetUrl } from "../http/outbound/target-url.ts";
import { StoreError } from "../model/errors.ts";
import { eventPatterns, type NotificationRule } from "../model/settings/notification.ts";
import { seal, unseal } from "../secrets/seal.ts";
import { indexBucket, unindexBucket } from "./bucket-index.ts";
import { deleteProgress, type Progress, progressName, readProgress } from "./delivery-status.ts";

/** A rule was refused. The message never contains a secret. */
export class NotificationError extends Error {
  override readonly name = "NotificationError";
}

export interface NewRule {
  readonly id?: string | undefined;
  /** Default: all events. */
  readonly events?: readonly string[] | undefined;
  readonly prefix?: string | undefined;
  readonly suffix?: string | undefined;
  readonly keep?: number | undefined;
  readonly target:
    | { readonly kind: "webhook"; readonly url: string }
    | { readonly kind: "script"; readonly name: string };
}

export interface ListedRule {
  readonly rule: NotificationRule;
  /** Number of events that wait for delivery. */
  readonly waiting: number;
  readonly progress: Progress;
}

export interface NotificationRules {
  /** Returns the rule, and the signing secret if the target is a webhook. */
  add(
    bucket: string,
    rule: NewRule,
  ): Promise<{ readonly rule: NotificationRule; readonly secret?: string | undefined }>;
  list(bucket: string): Promise<ListedRule[]>;
  /** Deletes the rule and its waiting events. Returns false if the rule does not exist. */
  remove(bucket: string, id: string): Promise<boolean>;
  /** Replaces all rules at once. Rules that are kept keep their waiting events. */
  replace(bucket: string, make: MakeRules): Promise<void>;
}

/** Returns the new rules. It is called again if another change was faster. */
export type MakeRules = (existing: readonly NotificationRule[]) => readonly NotificationRule[];

type RulesEngine = Pick<Engine, "bucket" | "changeSettings" | "countEvents" | "waitingEvents" | "ackEvents">;

const maxRules = 100;
const idShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

export function createNotificationRules(
  engine: RulesEngine,
  documents: Documents,
  secretKey: () => Uint8Array,
): NotificationRules {
  async function readRules(bucket: string): Promise<readonly NotificationRule[]> {
    const found = await engine.bucket(bucket);
    if (found === undefined) throw new StoreError("NoSuchBucket");
    return found.settings.notifications ?? [];
  }

  /** Commits the rules that `make` returns and retries after a conflict. Undefined: no change. */
  async function change(
    bucket: string,
    make: (rules: readonly NotificationRule[]) => readonly NotificationRule[] | undefined,
  ): Promise<readonly NotificationRule[] | undefined> {
    for (;;) {
      const found = await engine.bucket(bucket);
      if (found === undefined) throw new StoreError("NoSuchBucket");
      const rules = make(found.settings.notifications ?? []);
      if (rules === undefined) return undefined;
      const notifications = rules.length === 0 ? undefined : rules;
      const outcome = await engine.changeSettings(bucket, { notifications }, found.settings);
      if (outcome === "committed") return rules;
    }
  }

  return {
    async add(bucket, given) {
      await readRules(bucket);
      const { id = randomBytes(4).toString("hex") } = given;
      if (!idShape.test(id)) {
        throw new NotificationError(
          `Rule name "${id}" is not valid: use up to 63 letters, digits, dots, dashes.`,
        );
      }
      const { rule, secret } = makeRule(bucket, id, given, secretKey);
      // Add the index entry first: without it, events of the new rule would never be delivered.
      await indexBucket(documents, bucket);
      await change(bucket, (rules) => {
        if (rules.some((one) => one.id === id))
          throw new NotificationError(`Rule "${id}" already exists: choose another name.`);
        if (rules.length >= maxRules)
          throw new NotificationError(
            `The bucket already has the maximum of ${maxRules} rules: remove one first.`,
          );
        return [...rules, rule];
      });
      return { rule, secret };
    },
    async list(bucket) {
      const rules = await readRules(bucket);
      const counts = new Map((await engine.countEvents(bucket)).map(({ rule, count }) => [rule, count]));
      return Promise.all(
        rules.map(async (rule) => ({
          rule,
          waiting: counts.get(rule.id) ?? 0,
          progress: await readProgress(documents, progressName(bucket, rule.id)),
        })),
      );
    },
    async remove(bucket, id) {
      const remaining = await change(bucket, (rules) => {
        const others = rules.filter((rule) => rule.id !== id);
        return others.length === rules.length ? undefined : others;
      });
      if (remaining === undefined) return false;
      await clearRemovedRules(bucket, [id], remaining);
      return true;
    },
    async replace(bucket, make) {
      await indexBucket(documents, bucket);
      let removed: readonly string[] = [];
      const remaining = await change(bucket, (rules) => {
        const made = make(rules);
        checkReplacement(made);
        removed = rules.map(({ id }) => id).filter((id) => !made.some((one) => one.id === id));
        return made;
      });
      await clearRemovedRules(bucket, removed, remaining ?? []);
    },
  };

  /** Deletes what remains of removed rules. */
  async function clearRemovedRules(
    bucket: string,
    ids: readonly string[],
    remaining: readonly NotificationRule[],
  ): Promise<void> {
    for (const id of ids) {
      await deleteAllEvents(engine, bucket, id);
      await deleteProgress(documents, progressName(bucket, id));
    }
    if (remaining.length > 0) return;
    await unindexBucket(documents, bucket);
    // If a rule was added in the meantime, restore the index entry that was just deleted.
    if ((await readRules(bucket)).length > 0) await indexBucket(documents, bucket);
  }
}

function checkReplacement(rules: readonly NotificationRule[]): void {
  const ids = new Set(rules.map(({ id }) => id));
  if (ids.size !== rules.length) throw new NotificationError("Two rules have the same name.");
  if (rules.length > maxRules) throw new NotificationError(`A bucket has at most ${maxRules} rules.`);
  for (const { id } of rules) {
    if (!idShape.test(id)) {
      throw new NotificationError(
        `Rule name "${id}" is not valid: use up to 63 letters, digits, dots, dashes.`,
      );
    }
  }
}

function makeRule(
  bucket: string,
  id: string,
  { target, events = [], prefix = "", suffix = "", keep }: NewRule,
  secretKey: () => Uint8Array,
): { readonly rule: NotificationRule; readonly secret: string | undefined } {
  const secret = target.kind === "webhook" ? `whsec_${randomBytes(32).toString("base64url")}` : undefined;
  const rule: NotificationRule = {
    id,
    events: events.length === 0 ? allEvents : [...new Set(events.map(parseEventPattern))],
    prefix,
    suffix,
    target:
      target.kind === "webhook"
        ? {
            ...target,
            url: parseWebhookUrl(target.url),
            secret: seal(secretKey(), sealSubject(bucket, id), secret!),
          }
        : target,
    ...(keep === undefined ? {} : { keep }),
  };
  return { rule, secret };
}

async function deleteAllEvents(engine: RulesEngine, bucket: string, rule: string): Promise<void> {
  for (;;) {
    const waiting = await engine.waitingEvents(bucket, rule, 1000);
    if (waiting.length === 0) return;
    await engine.ackEvents(
      bucket,
      waiting.map(({ entry }) => entry),
    );
  }
}

const allEvents = eventPatterns.filter((pattern) => pattern.endsWith("*"));

/** Short event names for the command line. */
const shortNames: Readonly<Record<string, string>> = {
  create: "s3:ObjectCreated:*",
  delete: "s3:ObjectRemoved:*",
  expire: "s3:LifecycleExpiration:*",
};

function parseEventPattern(given: string): string {
  const short = Object.hasOwn(shortNames, given) ? shortNames[given]! : given;
  const name = short.startsWith("s3:") ? short : `s3:${short}`;
  if (eventPatterns.includes(name)) return name;
  const validNames = [...Object.keys(shortNames), ...eventPatterns].join(", ");
  throw new NotificationError(`Unknown event "${given}". Use one of: ${validNames}.`);
}

function parseWebhookUrl(text: string): string {
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

function sealSubject(bucket: string, id: string): readonly string[] {
  return ["notification", bucket, id];
}

/** Decrypts the signing secret of a webhook. */
export function openSecret(key: Uint8Array, bucket: string, { id, target }: NotificationRule): string {
  const sealed = target.kind === "webhook" ? target.secret : "";
  const secret = unseal(key, sealSubject(bucket, id), sealed);
  if (secret !== undefined) return secret;
  throw new NotificationError(
    `The secret of rule "${id}" cannot be decrypted: it was created with another secret key. ` +
      "Restore the original secret.key file of the data directory, or the original STORE_SECRET_KEY, " +
      `or remove the rule and add it again: store bucket notify remove ${bucket} ${id}`,
  );
}
