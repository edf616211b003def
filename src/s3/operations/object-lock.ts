// Object Lock: the configuration of a bucket, and retention and legal hold of versions.
import { parseIsoTime } from "../../model/iso-time.ts";
import type { ObjectLockSetting, Retention } from "../../model/lock.ts";
import { canRemoveProtection } from "../auth/authorize.ts";
import { checkDocument } from "../body/checksums.ts";
import { readWholePayload } from "../body/payload.ts";
import { childText, findChild, readXml, type XmlNode } from "../body/xml-reader.ts";
import type { XmlElement } from "../body/xml-writer.ts";
import { answer, answerXml, type Call, isoTime, type S3Response } from "../call.ts";
import { S3Error } from "../errors.ts";
import { formatMode, parseMode, readBypass, requireChecksum } from "../headers/lock.ts";
import { versionHeaders } from "../headers/versions.ts";
import { findObject } from "./find-object.ts";

const daysInYear = 365;
const maxDays = 100 * daysInYear;

export async function getObjectLockConfiguration({ bucket }: Call): Promise<S3Response> {
  const setting = bucket?.settings.objectLock;
  if (setting === undefined) throw new S3Error("ObjectLockConfigurationNotFoundError");
  return answerXml("ObjectLockConfiguration", objectLockElements(setting));
}

export function objectLockElements(setting: ObjectLockSetting): XmlElement[] {
  return [
    ["ObjectLockEnabled", "Enabled"],
    ["Rule", ruleElements(setting)],
  ];
}

function ruleElements({ defaultRetention }: ObjectLockSetting): XmlElement[] | undefined {
  if (defaultRetention === undefined) return undefined;
  const { mode, days, isInYears } = defaultRetention;
  const period: XmlElement = isInYears === true ? ["Years", days / daysInYear] : ["Days", days];
  return [["DefaultRetention", [["Mode", formatMode(mode)], period]]];
}

export async function putObjectLockConfiguration(call: Call): Promise<S3Response> {
  const { engine, operation } = call;
  const objectLock = readObjectLock(await readDocument(call, "ObjectLockConfiguration"));
  await engine.changeSettings(operation.bucket, { objectLock });
  return answer(200);
}

export function readObjectLock(document: XmlNode): ObjectLockSetting {
  if (childText(document, "ObjectLockEnabled")?.trim() !== "Enabled") throw new S3Error("MalformedXML");
  const rule = findChild(document, "Rule");
  if (rule === undefined) return {};
  const retention = findChild(rule, "DefaultRetention");
  const mode = parseMode(childText(retention, "Mode")?.trim());
  const [days, years] = [childText(retention, "Days"), childText(retention, "Years")];
  if (mode === undefined || (days === undefined) === (years === undefined)) throw new S3Error("MalformedXML");
  if (days !== undefined) return { defaultRetention: { mode, days: parsePeriod(days, maxDays) } };
  const count = parsePeriod(years!, maxDays / daysInYear);
  return { defaultRetention: { mode, days: count * daysInYear, isInYears: true } };
}

function parsePeriod(text: string, max: number): number {
  if (!/^\s*-?\d{1,15}\s*$/.test(text)) throw new S3Error("MalformedXML");
  const count = Number(text);
  if (count >= 1 && count <= max) return count;
  throw new S3Error("InvalidRetentionPeriod", {
    message: `Default retention period must be a positive integer value of at most ${max}.`,
  });
}

export async function getObjectRetention(call: Call): Promise<S3Response> {
  requireObjectLock(call);
  const record = await findObject(call);
  const retention = record.lock?.retention;
  if (retention === undefined) throw new S3Error("NoSuchObjectLockConfiguration");
  return answerXml(
    "Retention",
    [
      ["Mode", formatMode(retention.mode)],
      ["RetainUntilDate", isoTime(retention.until)],
    ],
    versionHeaders(call.bucket, record),
  );
}

export async function putObjectRetention(call: Call): Promise<S3Response> {
  const { engine, operation, bucket } = call;
  const bypassGovernance = await readBypass(call);
  const retention = readRetention(await readDocument(call, "Retention"));
  requireObjectLock(call);
  const { version } = await findObject(call);
  const target = { version, bypassGovernance };
  const record = await engine.setRetention(operation.bucket, operation.key, retention, target);
  return answer(200, versionHeaders(bucket, record));
}

/** An empty document removes the retention. */
function readRetention(document: XmlNode): Retention | undefined {
  const [modeText, dateText] = [childText(document, "Mode"), childText(document, "RetainUntilDate")];
  if (modeText === undefined && dateText === undefined) return undefined;
  const mode = parseMode(modeText?.trim());
  const until = parseIsoTime(dateText?.trim() ?? "");
  if (mode === undefined || until === undefined) throw new S3Error("MalformedXML");
  return { mode, until };
}

/** An object without a legal hold is reported as OFF, whether or not it ever had one. */
export async function getObjectLegalHold(call: Call): Promise<S3Response> {
  requireObjectLock(call);
  const record = await findObject(call);
  const status = record.lock?.legalHold === true ? "ON" : "OFF";
  return answerXml("LegalHold", [["Status", status]], versionHeaders(call.bucket, record));
}

/** Releasing a hold needs the admin right: otherwise each key that writes could undo it. */
export async function putObjectLegalHold(call: Call): Promise<S3Response> {
  const { engine, operation, bucket } = call;
  const document = await readDocument(call, "LegalHold");
  const status = childText(document, "Status")?.trim();
  if (status !== "ON" && status !== "OFF") throw new S3Error("MalformedXML");
  requireObjectLock(call);
  if (
    status === "OFF" &&
    bucket !== undefined &&
    !(await canRemoveProtection(call, bucket, operation, "s3:PutObjectLegalHold"))
  ) {
    throw new S3Error("AccessDenied", {
      message: "Access Denied: releasing a legal hold needs the admin right on the bucket.",
    });
  }
  const { version } = await findObject(call);
  const record = await engine.setLegalHold(operation.bucket, operation.key, status === "ON", { version });
  return answer(200, versionHeaders(bucket, record));
}

function requireObjectLock({ bucket }: Call): void {
  if (bucket?.settings.objectLock !== undefined) return;
  throw new S3Error("InvalidRequest", { message: "Bucket is missing Object Lock Configuration" });
}

async function readDocument({ request, payload }: Call, root: string): Promise<XmlNode> {
  requireChecksum(request, "Missing required header for this request: Content-MD5");
  const bytes = await readWholePayload(payload, 65_536);
  checkDocument(request, payload, bytes);
  return readXml(bytes, root);
}
