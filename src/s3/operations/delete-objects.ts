// DeleteObjects: up to a thousand keys at once, each checked like any other key.
import type { Condition } from "../../model/condition.ts";
import { StoreError } from "../../model/errors.ts";
import { checkKey } from "../../model/key.ts";
import { limits } from "../../model/limits.ts";
import { checkDocument } from "../body/checksums.ts";
import { wholePayload } from "../body/payload.ts";
import { childrenOf, readXml, textOf, type XmlNode } from "../body/xml-reader.ts";
import type { XmlElement } from "../body/xml-writer.ts";
import { answerXml, type Call, type S3Response } from "../call.ts";
import { codeOfReason, S3Error } from "../errors.ts";
import { namedCondition } from "../headers/conditions.ts";

interface Named {
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
  const bytes = await wholePayload(payload, 4 * 1024 * 1024);
  checkDocument(request, payload, bytes);
  const document = readXml(bytes, "Delete");
  const isQuiet = textOf(document, "Quiet")?.trim().toLowerCase() === "true";
  const named = childrenOf(document, "Object").map(readNamed);
  if (named.length === 0 || named.length > limits.deleteKeys) throw new S3Error("MalformedXML");
  const refused = new Map<Named, Refusal>();
  for (const one of named) {
    const refusal = refusalOf(one);
    if (refusal !== undefined) refused.set(one, refusal);
  }
  const open = named.filter((one) => !refused.has(one));
  const keys = open.filter(({ condition }) => condition === undefined).map(({ key }) => key);
  if (keys.length > 0) await engine.delete(operation.bucket, keys);
  // A condition that does not hold keeps its own key alone.
  for (const one of open.filter(({ condition }) => condition !== undefined)) {
    try {
      await engine.delete(operation.bucket, [one.key], { condition: one.condition });
    } catch (error) {
      refused.set(one, told(one.key, error));
    }
  }
  const deleted = open.filter((one) => !refused.has(one));
  return answerXml("DeleteResult", [
    ...(isQuiet ? [] : deleted.map(deletedElement)),
    ...[...refused.values()].map(refusedElement),
  ]);
}

function readNamed(node: XmlNode): Named {
  // Keys are never trimmed: a space is part of them.
  const key = textOf(node, "Key");
  if (key === undefined || key === "") throw new S3Error("MalformedXML");
  const condition = namedCondition((name) => textOf(node, name)?.trim());
  return { key, version: textOf(node, "VersionId"), condition };
}

function refusalOf({ key, version }: Named): Refusal | undefined {
  if (version !== undefined && version !== "" && version !== "null") {
    return { key, code: "NoSuchVersion", message: "The specified version does not exist." };
  }
  try {
    checkKey(key);
    return undefined;
  } catch (error) {
    return told(key, error);
  }
}

/** What is wrong with one key is told of it; anything else is wrong with all. */
function told(key: string, error: unknown): Refusal {
  if (!(error instanceof StoreError)) throw error;
  const code = codeOfReason[error.reason];
  if (code !== "PreconditionFailed" && code !== "KeyTooLongError") throw error;
  return { key, code, message: error.detail };
}

function deletedElement({ key, version }: Named): XmlElement {
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
