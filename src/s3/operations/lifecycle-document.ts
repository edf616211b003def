// Reads and writes the Rule elements of a lifecycle configuration.
import { parseIsoTime } from "../../model/iso-time.ts";
import type { LifecycleRule, NoncurrentWhen, When, WithClassName } from "../../model/settings/lifecycle.ts";
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
  const expireNoncurrent = findChild(node, "NoncurrentVersionExpiration");
  return {
    id,
    isEnabled: status === "Enabled",
    ...readFilter(node),
    ...readExpiration(findChild(node, "Expiration")),
    ...readTransitions(node),
    abortUploadsAfter: abort === undefined ? undefined : parseDays(childText(abort, "DaysAfterInitiation")),
    expireNoncurrent: expireNoncurrent && readNoncurrent(expireNoncurrent),
    ...readNoncurrentTransitions(node),
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

function readTransitions(node: XmlNode): Pick<LifecycleRule, "transition" | "namedTransitions"> {
  const named = findChildren(node, "Transition")
    .map((one) => ({ ...readWhen(one), className: readClassName(one) }))
    .sort((a, b) => startOf(a) - startOf(b));
  const [first] = named;
  if (first === undefined) return {};
  const { className, ...transition } = first;
  return { transition, ...(isPlain(named) ? {} : { namedTransitions: named }) };
}

function readNoncurrentTransitions(
  node: XmlNode,
): Pick<LifecycleRule, "transitionNoncurrent" | "namedNoncurrent"> {
  const named = findChildren(node, "NoncurrentVersionTransition")
    .map((one) => ({ ...readNoncurrent(one), className: readClassName(one) }))
    .sort((a, b) => a.days - b.days);
  const [first] = named;
  if (first === undefined) return {};
  const { className, ...transitionNoncurrent } = first;
  return { transitionNoncurrent, ...(isPlain(named) ? {} : { namedNoncurrent: named }) };
}

/** Whether the rule has one transition, to STANDARD_IA. */
function isPlain(named: readonly { readonly className: string | undefined }[]): boolean {
  return named.length === 1 && named[0]!.className === undefined;
}

function startOf(when: When): number {
  return "days" in when ? when.days : when.date;
}

/** Returns undefined for the class that Store has. */
function readClassName(node: XmlNode): string | undefined {
  const name = childText(node, "StorageClass")?.trim();
  if (parseStorageClass(name) !== "InfrequentAccess") {
    throw new S3Error("InvalidStorageClass", {
      message: "Objects can be moved to STANDARD_IA and to classes that are treated as STANDARD_IA.",
    });
  }
  return name === "STANDARD_IA" ? undefined : name;
}

function readNoncurrent(node: XmlNode): NoncurrentWhen {
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
  const { id, isEnabled, abortUploadsAfter, expireNoncurrent } = rule;
  return [
    "Rule",
    [
      ["ID", id],
      filterElement(rule),
      ["Status", isEnabled ? "Enabled" : "Disabled"],
      ["Expiration", expirationElements(rule)],
      ...transitionElements(rule),
      ["NoncurrentVersionExpiration", expireNoncurrent && noncurrentElements(expireNoncurrent)],
      ...noncurrentTransitionElements(rule),
      [
        "AbortIncompleteMultipartUpload",
        abortUploadsAfter === undefined ? undefined : [["DaysAfterInitiation", abortUploadsAfter]],
      ],
    ],
  ];
}

function transitionElements({ transition, namedTransitions }: LifecycleRule): XmlElement[] {
  const named: readonly WithClassName<When>[] =
    namedTransitions ?? (transition === undefined ? [] : [transition]);
  return named.map((one) => ["Transition", [whenElement(one), classElement(one)]]);
}

function noncurrentTransitionElements(rule: LifecycleRule): XmlElement[] {
  const { transitionNoncurrent: first, namedNoncurrent } = rule;
  const named: readonly WithClassName<NoncurrentWhen>[] =
    namedNoncurrent ?? (first === undefined ? [] : [first]);
  return named.map((one) => ["NoncurrentVersionTransition", [...noncurrentElements(one), classElement(one)]]);
}

function classElement({
  className = "STANDARD_IA",
}: {
  readonly className?: string | undefined;
}): XmlElement {
  return ["StorageClass", className];
}

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
