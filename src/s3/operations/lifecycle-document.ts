// Reads and writes the Rule elements of a lifecycle configuration.
import { parseIsoTime } from "../../model/iso-time.ts";
import type { LifecycleRule, NoncurrentWhen, When } from "../../model/settings/lifecycle.ts";
import { childText, findChild, findChildren, type XmlNode } from "../body/xml-reader.ts";
import type { XmlElement } from "../body/xml-writer.ts";
import { isoTime } from "../call.ts";
import { S3Error } from "../errors.ts";
import { parseStorageClass } from "../headers/passthrough.ts";
import { tagElement } from "../headers/tags.ts";

export function readRule(node: XmlNode, index: number): LifecycleRule {
  const id = childText(node, "ID")?.trim() || `rule-${index + 1}`;
  const status = childText(node, "Status")?.trim();
  if (status !== "Enabled" && status !== "Disabled") throw new S3Error("MalformedXML");
  const abort = findChild(node, "AbortIncompleteMultipartUpload");
  return {
    id,
    isEnabled: status === "Enabled",
    ...readFilter(node),
    ...readExpiration(findChild(node, "Expiration")),
    transition: readTransition(findChildren(node, "Transition")),
    abortUploadsAfter: abort === undefined ? undefined : parseDays(childText(abort, "DaysAfterInitiation")),
    expireNoncurrent: readNoncurrent(findChild(node, "NoncurrentVersionExpiration")),
    transitionNoncurrent: readNoncurrent(readTarget(findChildren(node, "NoncurrentVersionTransition"))),
  };
}

type Filter = Pick<LifecycleRule, "prefix" | "isBare" | "largerThan" | "smallerThan" | "tags">;

function readFilter(node: XmlNode): Filter {
  const filter = findChild(node, "Filter");
  const inner = findChild(filter, "And") ?? filter;
  const prefix = childText(node, "Prefix");
  if ((filter === undefined) === (prefix === undefined)) throw new S3Error("MalformedXML");
  const tags = findChildren(inner, "Tag").map(readTag);
  return {
    prefix: childText(inner, "Prefix") ?? prefix ?? "",
    isBare: filter === undefined ? true : undefined,
    largerThan: parseSize(childText(inner, "ObjectSizeGreaterThan")),
    smallerThan: parseSize(childText(inner, "ObjectSizeLessThan")),
    tags: tags.length === 0 ? undefined : tags,
  };
}

function readTag(node: XmlNode): readonly [string, string] {
  const [key, value] = [childText(node, "Key"), childText(node, "Value")];
  if (key === undefined || key === "" || value === undefined) throw new S3Error("MalformedXML");
  return [key, value];
}

function readExpiration(node: XmlNode | undefined): Pick<LifecycleRule, "expire" | "expireMarkers"> {
  if (node === undefined) return {};
  const markers = childText(node, "ExpiredObjectDeleteMarker")?.trim();
  if (markers === undefined) return { expire: readWhen(node) };
  const hasWhen = findChild(node, "Days") !== undefined || findChild(node, "Date") !== undefined;
  // A rule expires objects or the delete markers that remain of them, not both.
  if ((markers !== "true" && markers !== "false") || (markers === "true" && hasWhen))
    throw new S3Error("MalformedXML");
  if (markers === "true") return { expireMarkers: true };
  return hasWhen ? { expire: readWhen(node) } : {};
}

function readTransition(nodes: readonly XmlNode[]): When | undefined {
  const node = readTarget(nodes);
  return node === undefined ? undefined : readWhen(node);
}

/** Returns the only transition, which must be to the only other storage class. */
function readTarget(nodes: readonly XmlNode[]): XmlNode | undefined {
  const [node] = nodes;
  if (node === undefined) return undefined;
  if (nodes.length > 1 || parseStorageClass(childText(node, "StorageClass")?.trim()) !== "InfrequentAccess") {
    throw new S3Error("InvalidStorageClass", { message: "Objects can only be moved to STANDARD_IA." });
  }
  return node;
}

function readNoncurrent(node: XmlNode | undefined): NoncurrentWhen | undefined {
  if (node === undefined) return undefined;
  const keep = childText(node, "NewerNoncurrentVersions");
  const days = parseDays(childText(node, "NoncurrentDays"));
  return keep === undefined ? { days } : { days, keep: parseDays(keep) };
}

function readWhen(node: XmlNode): When {
  const [days, date] = [childText(node, "Days"), childText(node, "Date")];
  if ((days === undefined) === (date === undefined)) throw new S3Error("MalformedXML");
  if (days !== undefined) return { days: parseDays(days) };
  return { date: parseIsoTime(date!.trim()) ?? Number.NaN };
}

function parseDays(text: string | undefined): number {
  return /^\s*-?\d{1,9}\s*$/.test(text ?? "") ? Number(text) : Number.NaN;
}

function parseSize(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : Number.NaN;
}

export function ruleElement(rule: LifecycleRule): XmlElement {
  const { id, isEnabled, transition, abortUploadsAfter, expireNoncurrent, transitionNoncurrent } = rule;
  return [
    "Rule",
    [
      ["ID", id],
      filterElement(rule),
      ["Status", isEnabled ? "Enabled" : "Disabled"],
      ["Expiration", expirationElements(rule)],
      ["Transition", transition && [whenElement(transition), infrequent]],
      ["NoncurrentVersionExpiration", expireNoncurrent && noncurrentElements(expireNoncurrent)],
      [
        "NoncurrentVersionTransition",
        transitionNoncurrent && [...noncurrentElements(transitionNoncurrent), infrequent],
      ],
      [
        "AbortIncompleteMultipartUpload",
        abortUploadsAfter === undefined ? undefined : [["DaysAfterInitiation", abortUploadsAfter]],
      ],
    ],
  ];
}

const infrequent: XmlElement = ["StorageClass", "STANDARD_IA"];

function filterElement({ prefix, isBare, largerThan, smallerThan, tags = [] }: LifecycleRule): XmlElement {
  if (isBare === true) return ["Prefix", prefix];
  const others: XmlElement[] = tags.map(tagElement);
  if (largerThan !== undefined) others.push(["ObjectSizeGreaterThan", largerThan]);
  if (smallerThan !== undefined) others.push(["ObjectSizeLessThan", smallerThan]);
  if (others.length === 0) return ["Filter", [["Prefix", prefix]]];
  const filters: XmlElement[] = prefix === "" ? others : [["Prefix", prefix], ...others];
  return ["Filter", filters.length === 1 ? filters : [["And", filters]]];
}

function expirationElements({ expire, expireMarkers }: LifecycleRule): XmlElement[] | undefined {
  if (expire !== undefined) return [whenElement(expire)];
  return expireMarkers === true ? [["ExpiredObjectDeleteMarker", true]] : undefined;
}

function noncurrentElements({ days, keep }: NoncurrentWhen): XmlElement[] {
  return [
    ["NoncurrentDays", days],
    ["NewerNoncurrentVersions", keep],
  ];
}

function whenElement(when: When): XmlElement {
  return "days" in when ? ["Days", when.days] : ["Date", isoTime(when.date)];
}
