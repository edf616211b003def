// Operations on the lifecycle configuration of a bucket. The engine applies the rules.
import type { LifecycleRule } from "../../model/settings/lifecycle.ts";
import { lifecycleFlaws, type RuleFlaw } from "../../model/settings/rule-check.ts";
import { checkDocument } from "../body/checksums.ts";
import { readWholePayload } from "../body/payload.ts";
import { findChildren, readXml, type XmlNode } from "../body/xml-reader.ts";
import { answer, answerXml, type Call, type S3Response } from "../call.ts";
import { S3Error } from "../errors.ts";
import { readRule, ruleElement } from "./lifecycle-document.ts";

export async function getBucketLifecycle({ bucket }: Call): Promise<S3Response> {
  // The default rule is not shown: clients compare this document with the one that they set.
  const lifecycle = bucket?.settings.lifecycle ?? [];
  if (lifecycle.length === 0) throw new S3Error("NoSuchLifecycleConfiguration");
  return answerXml("LifecycleConfiguration", lifecycle.map(ruleElement));
}

export async function putBucketLifecycle({ engine, operation, request, payload }: Call): Promise<S3Response> {
  const bytes = await readWholePayload(payload, 1024 * 1024);
  checkDocument(request, payload, bytes);
  const rules = readLifecycle(readXml(bytes, "LifecycleConfiguration"));
  refuseFlaws(lifecycleFlaws(rules));
  await engine.changeSettings(operation.bucket, { lifecycle: rules });
  return answer(200);
}

/** Reads the document without checking the values of its rules. */
export function readLifecycle(document: XmlNode): LifecycleRule[] {
  const nodes = findChildren(document, "Rule");
  if (nodes.length === 0) throw new S3Error("MalformedXML");
  return nodes.map(readRule);
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
