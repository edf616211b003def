// Lifecycle rules as documents. What the rules do is the engine's.
import type { LifecycleRule, When } from "../model/lifecycle.ts";
import { answer, answerXml, type Call, isoTime, type S3Response } from "./call.ts";
import { checkDocument } from "./checksums.ts";
import { S3Error } from "./errors.ts";
import { wholePayload } from "./payload.ts";
import type { XmlElement } from "./xml.ts";
import { childOf, childrenOf, readXml, textOf, type XmlNode } from "./xml-reader.ts";

const mostRules = 1000;

/** What every bucket does by itself, shown when nothing else is set. */
const standard: LifecycleRule = {
  id: "Default Multipart Abort Rule",
  isEnabled: true,
  prefix: "",
  abortUploadsAfter: 7,
};

export async function getBucketLifecycle({ bucket }: Call): Promise<S3Response> {
  const lifecycle = bucket?.settings.lifecycle ?? [standard];
  if (lifecycle.length === 0) throw new S3Error("NoSuchLifecycleConfiguration");
  return answerXml("LifecycleConfiguration", lifecycle.map(ruleElement));
}

export async function putBucketLifecycle({ engine, operation, request, payload }: Call): Promise<S3Response> {
  const bytes = await wholePayload(payload, 1024 * 1024);
  checkDocument(request, payload, bytes);
  const nodes = childrenOf(readXml(bytes, "LifecycleConfiguration"), "Rule");
  if (nodes.length === 0 || nodes.length > mostRules) throw new S3Error("MalformedXML");
  const rules = nodes.map(readRule);
  if (new Set(rules.map(({ id }) => id)).size < rules.length) {
    throw new S3Error("InvalidArgument", {
      message: "Rule ID must be unique. Found same ID for more than one rule",
    });
  }
  await engine.changeSettings(operation.bucket, { lifecycle: rules });
  return answer(200);
}

export async function deleteBucketLifecycle({ engine, operation }: Call): Promise<S3Response> {
  await engine.changeSettings(operation.bucket, { lifecycle: [] });
  return answer(204);
}

function readRule(node: XmlNode, index: number): LifecycleRule {
  const id = textOf(node, "ID")?.trim() || `rule-${index + 1}`;
  if (id.length > 255) {
    throw new S3Error("InvalidArgument", { message: "ID length should not exceed allowed limit of 255" });
  }
  const status = textOf(node, "Status")?.trim();
  if (status !== "Enabled" && status !== "Disabled") throw new S3Error("MalformedXML");
  for (const name of ["NoncurrentVersionExpiration", "NoncurrentVersionTransition"]) {
    if (childOf(node, name) !== undefined) throw notImplemented(name);
  }
  const abort = childOf(node, "AbortIncompleteMultipartUpload");
  const rule: LifecycleRule = {
    id,
    isEnabled: status === "Enabled",
    ...readFilter(node),
    expire: readExpiration(childOf(node, "Expiration")),
    transition: readTransition(childrenOf(node, "Transition")),
    abortUploadsAfter: abort === undefined ? undefined : positive(textOf(abort, "DaysAfterInitiation")),
  };
  if (rule.expire ?? rule.transition ?? rule.abortUploadsAfter) return rule;
  throw new S3Error("InvalidRequest", { message: "At least one action needs to be specified in a rule" });
}

type Filter = Pick<LifecycleRule, "prefix" | "isBare" | "largerThan" | "smallerThan">;

function readFilter(node: XmlNode): Filter {
  const filter = childOf(node, "Filter");
  const inner = childOf(filter, "And") ?? filter;
  if (childOf(inner, "Tag") !== undefined) throw notImplemented("Tag");
  if (filter === undefined && childOf(node, "Prefix") === undefined) throw new S3Error("MalformedXML");
  return {
    prefix: textOf(inner, "Prefix") ?? textOf(node, "Prefix") ?? "",
    isBare: filter === undefined ? true : undefined,
    largerThan: sizeOf(textOf(inner, "ObjectSizeGreaterThan")),
    smallerThan: sizeOf(textOf(inner, "ObjectSizeLessThan")),
  };
}

function readExpiration(node: XmlNode | undefined): When | undefined {
  if (node === undefined) return undefined;
  // There are no versions here, so there is never a marker without one.
  if (childOf(node, "ExpiredObjectDeleteMarker") !== undefined)
    throw notImplemented("ExpiredObjectDeleteMarker");
  return readWhen(node);
}

function readTransition(nodes: readonly XmlNode[]): When | undefined {
  const [node] = nodes;
  if (node === undefined) return undefined;
  if (nodes.length > 1 || textOf(node, "StorageClass")?.trim() !== "STANDARD_IA") {
    throw new S3Error("InvalidStorageClass", { message: "Objects can be moved to STANDARD_IA alone." });
  }
  return readWhen(node);
}

function readWhen(node: XmlNode): When {
  const [days, date] = [textOf(node, "Days"), textOf(node, "Date")];
  if ((days === undefined) === (date === undefined)) throw new S3Error("MalformedXML");
  if (days !== undefined) return { days: positive(days) };
  const time = Date.parse(date!.trim());
  if (!/^\d{4}-\d\d-\d\d/.test(date!.trim()) || Number.isNaN(time)) throw new S3Error("MalformedXML");
  if (time % 86_400_000 !== 0) {
    throw new S3Error("InvalidArgument", { message: "'Date' must be at midnight GMT" });
  }
  return { date: time };
}

function positive(text: string | undefined): number {
  const number = /^\s*-?\d{1,9}\s*$/.test(text ?? "") ? Number(text) : Number.NaN;
  if (Number.isNaN(number)) throw new S3Error("MalformedXML");
  if (number > 0) return number;
  throw new S3Error("InvalidArgument", { message: "'Days' must be a positive integer" });
}

function sizeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\s*\d{1,15}\s*$/.test(text)) return Number(text);
  throw new S3Error("MalformedXML");
}

function notImplemented(what: string): S3Error {
  return new S3Error("NotImplemented", { message: `Lifecycle rules here have no ${what}.` });
}

function ruleElement(rule: LifecycleRule): XmlElement {
  const { id, isEnabled, expire, transition, abortUploadsAfter } = rule;
  return [
    "Rule",
    [
      ["ID", id],
      filterElement(rule),
      ["Status", isEnabled ? "Enabled" : "Disabled"],
      ["Expiration", expire === undefined ? undefined : [whenElement(expire)]],
      [
        "Transition",
        transition === undefined ? undefined : [whenElement(transition), ["StorageClass", "STANDARD_IA"]],
      ],
      [
        "AbortIncompleteMultipartUpload",
        abortUploadsAfter === undefined ? undefined : [["DaysAfterInitiation", abortUploadsAfter]],
      ],
    ],
  ];
}

function filterElement({ prefix, isBare, largerThan, smallerThan }: LifecycleRule): XmlElement {
  if (isBare === true) return ["Prefix", prefix];
  const filters: XmlElement[] = [
    ["Prefix", prefix],
    ["ObjectSizeGreaterThan", largerThan],
    ["ObjectSizeLessThan", smallerThan],
  ];
  const isPlain = largerThan === undefined && smallerThan === undefined;
  return ["Filter", isPlain ? filters : [["And", filters]]];
}

function whenElement(when: When): XmlElement {
  return "days" in when ? ["Days", when.days] : ["Date", isoTime(when.date)];
}
