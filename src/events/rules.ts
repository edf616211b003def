// Creates, checks, lists and deletes the notification rules of a bucket. The secret of a webhook is
// returned once, when its rule is created, and stored sealed.
import { randomBytes } from "node:crypto";
import type { Engine } from "../engine/engine.ts";
import type { Documents } from "../engine/records.ts";
import { StoreError } from "../model/errors.ts";
import type { NotificationRule } from "../model/settings/notification.ts";
import { seal, unseal } from "../secrets/seal.ts";
import { listRunningScripts, type ScriptBuckets } from "../servers/server-record.ts";
import { indexBucket, unindexBucket } from "./bucket-index.ts";
import { deleteProgress, type Progress, progressName, readProgress } from "./delivery-status.ts";
import {
  allEvents,
  checkRules,
  checkScripts,
  NotificationError,
  parseEventPattern,
  parseWebhookUrl,
} from "./rule-check.ts";

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
  /** Adds the rule also for a script that does not run yet. */
  readonly isEarly?: boolean | undefined;
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

export interface NotificationRulesOptions {
  readonly engine: RulesEngine;
  readonly documents: Documents;
  readonly secretKey: () => Uint8Array;
  /** The scripts that rules may name. Default: those of the running servers. */
  readonly listScripts?: (documents: Documents) => Promise<readonly ScriptBuckets[]>;
}

export function createNotificationRules({
  engine,
  documents,
  secretKey,
  listScripts = listRunningScripts,
}: NotificationRulesOptions): NotificationRules {
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
      const { rule, secret } = makeRule(bucket, id, given, secretKey);
      if (given.isEarly !== true)
        checkScripts(await listScripts(documents), bucket, { before: [], after: [rule] });
      // Add the index entry first: without it, events of the new rule would never be delivered.
      await indexBucket(documents, bucket);
      await change(bucket, (rules) => {
        if (rules.some((one) => one.id === id))
          throw new NotificationError(`Rule "${id}" already exists: choose another name.`);
        const added = [...rules, rule];
        checkRules(added);
        return added;
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
      const scripts = await listScripts(documents);
      await indexBucket(documents, bucket);
      let removed: readonly string[] = [];
      const remaining = await change(bucket, (rules) => {
        const made = make(rules);
        checkRules(made);
        checkScripts(scripts, bucket, { before: rules, after: made });
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
    const waiting = await engine.waitingEvents(bucket, rule, { events: 1000, bytes: 2 ** 20 });
    if (waiting.length === 0) return;
    await engine.ackEvents(
      bucket,
      rule,
      waiting.map(({ entry }) => entry),
    );
  }
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
