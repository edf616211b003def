// DeleteObjects: deletes up to 1,000 keys in one request, with a result for each key.
import type { Condition } from "../../model/condition.ts";
import { StoreError } from "../../model/errors.ts";
import { checkKey } from "../../model/key.ts";
import { limits } from "../../model/limits.ts";
import { checkDocument } from "../body/checksums.ts";
import { readWholePayload } from "../body/payload.ts";
import { childText, findChildren, readXml, type XmlNode } from "../body/xml-reader.ts";
import type { XmlElement } from "../body/xml-writer.ts";
import { answerXml, type Call, type S3Response } from "../call.ts";
import { errorCodeByReason, S3Error } from "../errors.ts";
import { elementCondition } from "../headers/conditions.ts";

interface KeyToDelete {
  readonly key: string;
  readonly version: string | undefined;
  readonly condition: Condition | undefined;
}

interface Refusal {
  readonly key: string;
  readonly code: string;
  readonly message: string;
}

export async function deleteObjects({ engine, operation, request, payload }: Call): Promise<S3Response> {
  const bytes = await readWholePayload(payload, 4 * 1024 * 1024);
  checkDocument(request, payload, bytes);
  const document = readXml(bytes, "Delete");
  const isQuiet = childText(document, "Quiet")?.trim().toLowerCase() === "true";
  const requested = findChildren(document, "Object").map(readKeyToDelete);
  if (requested.length === 0 || requested.length > limits.deleteKeys) throw new S3Error("MalformedXML");
  const refused = new Map<KeyToDelete, Refusal>();
  for (const one of requested) {
    const refusal = findRefusal(one);
    if (refusal !== undefined) refused.set(one, refusal);
  }
  const accepted = requested.filter((one) => !refused.has(one));
  const keys = accepted.filter(({ condition }) => condition === undefined).map(({ key }) => key);
  if (keys.length > 0) await engine.delete(operation.bucket, keys);
  // Keys with a condition are deleted one by one, so that a failed condition affects only its key.
  for (const one of accepted.filter(({ condition }) => condition !== undefined)) {
    try {
      await engine.delete(operation.bucket, [one.key], { condition: one.condition });
    } catch (error) {
      refused.set(one, toRefusal(one.key, error));
    }
  }
  const deleted = accepted.filter((one) => !refused.has(one));
  return answerXml("DeleteResult", [
    ...(isQuiet ? [] : deleted.map(deletedElement)),
    ...[...refused.values()].map(refusedElement),
  ]);
}

function readKeyToDelete(node: XmlNode): KeyToDelete {
  // Keys are never trimmed: spaces are part of a key.
  const key = childText(node, "Key");
  if (key === undefined || key === "") throw new S3Error("MalformedXML");
  const condition = elementCondition((name) => childText(node, name)?.trim());
  return { key, version: childText(node, "VersionId"), condition };
}

function findRefusal({ key, version }: KeyToDelete): Refusal | undefined {
  if (version !== undefined && version !== "" && version !== "null") {
    return { key, code: "NoSuchVersion", message: "The specified version does not exist." };
  }
  try {
    checkKey(key);
    return undefined;
  } catch (error) {
    return toRefusal(key, error);
  }
}

/** Converts an error of one key to its result. Throws errors that concern the whole request. */
function toRefusal(key: string, error: unknown): Refusal {
  if (!(error instanceof StoreError)) throw error;
  const code = errorCodeByReason[error.reason];
  if (!["PreconditionFailed", "NoSuchKey", "KeyTooLongError"].includes(code)) throw error;
  return { key, code, message: error.detail };
}

function deletedElement({ key, version }: KeyToDelete): XmlElement {
  return [
    "Deleted",
    [
      ["Key", key],
      ["VersionId", version],
    ],
  ];
}

function refusedElement({ key, code, message }: Refusal): XmlElement {
  return [
    "Error",
    [
      ["Key", key],
      ["Code", code],
      ["Message", message],
    ],
  ];
}
