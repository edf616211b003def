// Lets the console publish buckets, check policies and manage notifications, with the same rules as
// `store bucket`.
import { parsePolicy } from "../../../access/policy/parse.ts";
import { PolicyError, type Principal, type Statement } from "../../../access/policy/policy.ts";
import { isPublicPolicy } from "../../../access/policy/public-status.ts";
import type { ConsoleBuckets, NewNotification } from "../../../console/api/bucket/console-buckets.ts";
import { ConsoleError } from "../../../console/response.ts";
import type { NotificationDocument, StatementDocument } from "../../../console/wire-bucket.ts";
import { NotificationError } from "../../../events/rule-check.ts";
import { createNotificationRules, type ListedRule, openSecret } from "../../../events/rules.ts";
import { createWebhook } from "../../../events/webhook.ts";
import type { WebhookClient } from "../../../events/webhook-client.ts";
import { errorMessage, StoreError } from "../../../model/errors.ts";
import { dayMilliseconds } from "../../../model/limits.ts";
import { isScriptName, scriptNameRule } from "../../../model/names/script-name.ts";
import { eventPatterns } from "../../../model/settings/notification.ts";
import type { ServerNames } from "../../../model/settings/publication.ts";
import { listPublicBuckets, PublicationError, publish } from "../../../public/publications.ts";
import type { Data } from "../../store/open-store.ts";

const defaultKeep = 7 * dayMilliseconds;

export interface ConsoleBucketsOptions {
  readonly data: Data;
  readonly publicPort: () => number | undefined;
  readonly serverNames: ServerNames;
  readonly webhooks: WebhookClient;
}

export function consoleBuckets(options: ConsoleBucketsOptions): ConsoleBuckets {
  const { data, publicPort, serverNames, webhooks } = options;
  const { engine, documents, secretKey } = data;
  const rules = createNotificationRules({ engine, documents, secretKey });
  return {
    publicPort,
    events: eventPatterns,
    listPublic: async () => new Set((await listPublicBuckets(documents)).map(({ bucket }) => bucket)),
    publish: ({ name, settings }, publication) =>
      withConsoleErrors(() => publish({ engine, documents, serverNames }, name, publication, settings)),
    parsePolicy(text, bucket) {
      try {
        const policy = parsePolicy(text, bucket);
        return { isPublic: isPublicPolicy(policy), statements: policy.statements.map(toStatement) };
      } catch (error) {
        throw toConsoleError(error);
      }
    },
    requireEncryptionKey() {
      try {
        secretKey();
      } catch (error) {
        throw new ConsoleError(409, errorMessage(error));
      }
    },
    listNotifications: async (bucket) => (await rules.list(bucket)).map(toNotification),
    addNotification: (bucket, given) =>
      withConsoleErrors(async () => {
        const target = toTarget(given);
        // Only what the URL shows: a lookup would tell names of the server's network.
        const refusal = target.kind === "webhook" ? webhooks.refusal(target.url) : undefined;
        if (refusal !== undefined)
          throw new NotificationError(`Webhook "${target.url}" is refused: ${refusal}.`);
        const { rule, secret } = await rules.add(bucket, { ...given, target, keep: defaultKeep });
        return { id: rule.id, secret: secret ?? null };
      }),
    removeNotification: (bucket, id) => rules.remove(bucket, id),
    testNotification: (bucket, id) => withConsoleErrors(() => testRule(options, bucket, id)),
  };
}

async function testRule(
  { data: { engine, secretKey }, webhooks }: ConsoleBucketsOptions,
  bucket: string,
  id: string,
): Promise<string | undefined> {
  const found = await engine.bucket(bucket);
  if (found === undefined) throw new StoreError("NoSuchBucket");
  const rule = found.settings.notifications?.find((one) => one.id === id);
  if (rule === undefined) throw new ConsoleError(404, "This rule no longer exists.");
  if (rule.target.kind === "script")
    throw new ConsoleError(409, "The rule calls a script.", {
      hint: "Upload an object to the bucket, and read the log of the script.",
    });
  const secret = openSecret(secretKey(), bucket, rule);
  const sender = { bucket, rule: id };
  const webhook = createWebhook({ url: rule.target.url, secret, sender, client: webhooks, now: Date.now });
  try {
    await webhook.test();
    return undefined;
  } catch (error) {
    return errorMessage(error);
  } finally {
    webhook.close();
  }
}

function toTarget({ target: { kind, name } }: NewNotification) {
  if (kind === "webhook") return { kind, url: name };
  if (!isScriptName(name))
    throw new ConsoleError(400, `"${name}" is not a valid script name: use ${scriptNameRule}.`);
  return { kind, name };
}

function toNotification({ rule, waiting, progress }: ListedRule): NotificationDocument {
  const { id, events, prefix, suffix, target } = rule;
  const name = target.kind === "webhook" ? target.url : target.name;
  const { delivered, lastDelivered, lastFailure } = progress;
  return {
    ...{ id, events, prefix, suffix, waiting, delivered, target: { kind: target.kind, name } },
    lastDelivered: lastDelivered ?? null,
    lastFailure: lastFailure ?? null,
  };
}

function toStatement({
  sid,
  effect,
  principals,
  actions,
  resources,
  conditions,
}: Statement): StatementDocument {
  const texts = ({ patterns, isInverted }: Statement["actions"]) =>
    patterns.map((pattern) => (isInverted ? `all except ${pattern}` : pattern));
  return {
    ...{ sid: sid ?? null, effect, principals: principals.map(formatPrincipal) },
    ...{ actions: texts(actions), resources: texts(resources), conditions: conditions.length },
  };
}

function formatPrincipal(principal: Principal): string {
  switch (principal.kind) {
    case "everyone":
      return "everyone";
    case "account":
      return `account ${principal.account}`;
    case "owner":
      return `owner ${principal.id}`;
    case "key":
      return `key ${principal.accessKeyId}`;
  }
}

async function withConsoleErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toConsoleError(error);
  }
}

function toConsoleError(error: unknown): unknown {
  const isInput =
    error instanceof PolicyError || error instanceof PublicationError || error instanceof NotificationError;
  return isInput ? new ConsoleError(400, error.message) : error;
}
