// Reads and writes lifecycle configuration documents. The engine applies the rules.
import { defaultLifecycle, type LifecycleRule, type When } from "../../model/lifecycle.ts";
import { lifecycleFlaws, type RuleFlaw } from "../../model/rule-check.ts";
import { checkDocument } from "../body/checksums.ts";
import { readWholePayload } from "../body/payload.ts";
import { childText, findChild, findChildren, readXml, type XmlNode } from "../body/xml-reader.ts";
import type { XmlElement } from "../body/xml-writer.ts";
import { answer, answerXml, type Call, isoTime, type S3Response } from "../call.ts";
import { S3Error } from "../errors.ts";
import { parseStorageClass } from "../headers/metadata.ts";

export async function getBucketLifecycle({ bucket }: Call): Promise<S3Response> {
  const lifecycle = bucket?.settings.lifecycle ?? defaultLifecycle;
  if (lifecycle.length === 0) throw new S3Error("NoSuchLifecycleConfiguration");
  return answerXml("LifecycleConfiguration", lifecycle.map(ruleElement));
}

export async function putBucketLifecycle({ engine, operation, request, payload }: Call): Promise<S3Response> {
  const bytes = await readWholePayload(payload, 1024 * 1024);
  checkDocument(request, payload, bytes);
  const nodes = findChildren(readXml(bytes, "LifecycleConfiguration"), "Rule");
  if (nodes.length === 0) throw new S3Error("MalformedXML");
  const rules = nodes.map(readRule);
  refuseFlaws(lifecycleFlaws(rules));
  await engine.changeSettings(operation.bucket, { lifecycle: rules });
  return answer(200);
}

export async function deleteBucketLifecycle({ engine, operation }: Call): Promise<S3Response> {
  await engine.changeSettings(operation.bucket, { lifecycle: [] });
  return answer(204);
}

/** Throws the first flaw as an S3 error. */
export function refuseFlaws([first]: readonly RuleFlaw[]): void {
  if (first === undefined) return;
  const { kind, message } = first;
  if (kind === "malformed") throw new S3Error("MalformedXML");
  throw new S3Error(kind === "argument" ? "InvalidArgument" : "InvalidRequest", { message });
}

function readRule(node: XmlNode, index: number): LifecycleRule {
  const id = childText(node, "ID")?.trim() || `rule-${index + 1}`;
  const status = childText(node, "Status")?.trim();
  if (status !== "Enabled" && status !== "Disabled") throw new S3Error("MalformedXML");
  for (const name of ["NoncurrentVersionExpiration", "NoncurrentVersionTransition"]) {
    if (findChild(node, name) !== undefined) throw notImplemented(name);
  }
  const abort = findChild(node, "AbortIncompleteMultipartUpload");
  return {
    id,
    isEnabled: status === "Enabled",
    ...readFilter(node),
    expire: readExpiration(findChild(node, "Expiration")),
    transition: readTransition(findChildren(node, "Transition")),
    abortUploadsAfter: abort === undefined ? undefined : parseDays(childText(abort, "DaysAfterInitiation")),
  };
}

type Filter = Pick<LifecycleRule, "prefix" | "isBare" | "largerThan" | "smallerThan">;

function readFilter(node: XmlNode): Filter {
  const filter = findChild(node, "Filter");
  const inner = findChild(filter, "And") ?? filter;
  if (findChild(inner, "Tag") !== undefined) throw notImplemented("Tag");
  if (filter === undefined && findChild(node, "Prefix") === undefined) throw new S3Error("MalformedXML");
  return {
    prefix: childText(inner, "Prefix") ?? childText(node, "Prefix") ?? "",
    isBare: filter === undefined ? true : undefined,
    largerThan: parseSize(childText(inner, "ObjectSizeGreaterThan")),
    smallerThan: parseSize(childText(inner, "ObjectSizeLessThan")),
  };
}

function readExpiration(node: XmlNode | undefined): When | undefined {
  if (node === undefined) return undefined;
  // Without versioning there are no delete markers.
  if (findChild(node, "ExpiredObjectDeleteMarker") !== undefined)
    throw notImplemented("ExpiredObjectDeleteMarker");
  return readWhen(node);
}

function readTransition(nodes: readonly XmlNode[]): When | undefined {
  const [node] = nodes;
  if (node === undefined) return undefined;
  if (nodes.length > 1 || parseStorageClass(childText(node, "StorageClass")?.trim()) !== "InfrequentAccess") {
    throw new S3Error("InvalidStorageClass", { message: "Objects can only be moved to STANDARD_IA." });
  }
  return readWhen(node);
}

function readWhen(node: XmlNode): When {
  const [days, date] = [childText(node, "Days"), childText(node, "Date")];
  if ((days === undefined) === (date === undefined)) throw new S3Error("MalformedXML");
  if (days !== undefined) return { days: parseDays(days) };
  const text = date!.trim();
  return { date: /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN };
}

function parseDays(text: string | undefined): number {
  return /^\s*-?\d{1,9}\s*$/.test(text ?? "") ? Number(text) : Number.NaN;
}

function parseSize(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : Number.NaN;
}

function notImplemented(element: string): S3Error {
  return new S3Error("NotImplemented", { message: `${element} is not supported in lifecycle rules.` });
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
