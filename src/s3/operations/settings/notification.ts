// S3's notification configuration, mapped to the notification rules of a bucket: a function is a
// script, and a topic is a webhook that a rule of this bucket already has.
import { randomBytes } from "node:crypto";
import { NotificationError } from "../../../events/rule-check.ts";
import type { MakeRules } from "../../../events/rules.ts";
import { dayMilliseconds } from "../../../model/limits.ts";
import { isScriptName } from "../../../model/names/script-name.ts";
import {
  eventPatterns,
  type NotificationRule,
  type NotificationTarget,
} from "../../../model/settings/notification.ts";
import { checkDocument } from "../../body/checksums.ts";
import { readWholePayload } from "../../body/payload.ts";
import { childText, findChild, findChildren, readXml, type XmlNode } from "../../body/xml-reader.ts";
import type { XmlElement } from "../../body/xml-writer.ts";
import { answer, answerXml, type Call, type S3Response } from "../../call.ts";
import { S3Error } from "../../errors.ts";

const configurations = ["TopicConfiguration", "CloudFunctionConfiguration"];
const topicArn = "arn:aws:sns:::";
const functionArn = "arn:aws:lambda:::function:";

export async function getBucketNotification({ bucket }: Call): Promise<S3Response> {
  return answerXml(
    "NotificationConfiguration",
    (bucket?.settings.notifications ?? []).map(notificationElement),
  );
}

export function notificationElement({ id, events, prefix, suffix, target }: NotificationRule): XmlElement {
  const rules: readonly (readonly [string, string])[] = [
    ["prefix", prefix],
    ["suffix", suffix],
  ];
  const filters = rules
    .filter(([, value]) => value !== "")
    .map(
      ([name, value]): XmlElement => [
        "FilterRule",
        [
          ["Name", name],
          ["Value", value],
        ],
      ],
    );
  const isScript = target.kind === "script";
  return [
    isScript ? "CloudFunctionConfiguration" : "TopicConfiguration",
    [
      ["Id", id],
      isScript ? ["CloudFunction", functionArn + target.name] : ["Topic", topicArn + id],
      ...events.map((event): XmlElement => ["Event", event]),
      ...(filters.length === 0 ? [] : [["Filter", [["S3Key", filters]]] as XmlElement]),
    ],
  ];
}

export async function putBucketNotification(call: Call): Promise<S3Response> {
  const { operation, request, payload, notifications } = call;
  const bytes = await readWholePayload(payload, 65_536);
  checkDocument(request, payload, bytes);
  const document = readXml(bytes, "NotificationConfiguration");
  const make = readNotifications(document);
  if (notifications === undefined) throw new S3Error("NotImplemented");
  try {
    await notifications.replace(operation.bucket, make);
  } catch (error) {
    throw error instanceof NotificationError ? invalid(error.message) : error;
  }
  return answer(200);
}

/** Returns a function that makes the rules of the document from the existing rules. */
export function readNotifications(document: XmlNode): MakeRules {
  const unknown = document.children.find(({ name }) => !configurations.includes(name));
  if (unknown !== undefined) throw invalid(`${unknown.name} is not supported.`);
  const topics = findChildren(document, "TopicConfiguration");
  const functions = findChildren(document, "CloudFunctionConfiguration");
  return (existing) => [
    ...topics.map((node) => readTopic(node, existing)),
    ...functions.map((node) => readFunction(node, existing)),
  ];
}

/** S3 cannot send the address of a webhook or its secret, so that the rule must exist already. */
function readTopic(node: XmlNode, existing: readonly NotificationRule[]): NotificationRule {
  const arn = childText(node, "Topic")?.trim() ?? "";
  const id = arn.startsWith(topicArn) ? arn.slice(topicArn.length) : "";
  const rule = existing.find((one) => one.id === id && one.target.kind === "webhook");
  if (rule === undefined) {
    throw invalid(
      `Unknown topic "${arn}": use ${topicArn}NAME, where NAME is a rule with a webhook of this bucket. ` +
        "Add one with: store bucket notify add",
    );
  }
  const given = childText(node, "Id")?.trim();
  if (given !== undefined && given !== id) throw invalid(`The Id of topic "${arn}" must be ${id}.`);
  return toRule(node, id, rule.target, rule);
}

function readFunction(node: XmlNode, existing: readonly NotificationRule[]): NotificationRule {
  const arn = childText(node, "CloudFunction")?.trim() ?? "";
  const name = arn.startsWith(functionArn) ? arn.slice(functionArn.length) : "";
  if (!isScriptName(name)) throw invalid(`Unknown function "${arn}": use ${functionArn}SCRIPT.`);
  const id = childText(node, "Id")?.trim() || randomBytes(4).toString("hex");
  const earlier = existing.find((one) => one.id === id);
  if (earlier?.target.kind === "webhook") throw invalid(`The Id "${id}" belongs to a webhook.`);
  return toRule(node, id, { kind: "script", name }, earlier);
}

const defaultKeep = 7 * dayMilliseconds;

function toRule(
  node: XmlNode,
  id: string,
  target: NotificationTarget,
  earlier: NotificationRule | undefined,
): NotificationRule {
  const events = findChildren(node, "Event").map(({ text }) => text.trim());
  const unknown = events.find((event) => !eventPatterns.includes(event));
  if (unknown !== undefined || events.length === 0) {
    throw invalid(`The event "${unknown ?? ""}" is not supported for notifications.`);
  }
  const keep = earlier === undefined ? defaultKeep : earlier.keep;
  const kept = keep === undefined ? {} : { keep };
  return { id, events: [...new Set(events)], ...readFilter(node), target, ...kept };
}

function readFilter(node: XmlNode): { readonly prefix: string; readonly suffix: string } {
  const filter = findChild(node, "Filter");
  const found = new Map<string, string>();
  for (const rule of findChildren(findChild(filter, "S3Key"), "FilterRule")) {
    const name = childText(rule, "Name")?.trim().toLowerCase() ?? "";
    if ((name !== "prefix" && name !== "suffix") || found.has(name)) {
      throw invalid("A filter has at most one rule named prefix and one named suffix.");
    }
    found.set(name, childText(rule, "Value") ?? "");
  }
  return { prefix: found.get("prefix") ?? "", suffix: found.get("suffix") ?? "" };
}

function invalid(message: string): S3Error {
  return new S3Error("InvalidArgument", { message });
}
