// DeleteObjects: up to a thousand keys at once, each checked like any other key.
import { StoreError } from "../model/errors.ts";
import { hashOf } from "../model/hashes.ts";
import { checkKey } from "../model/key.ts";
import { limits } from "../model/limits.ts";
import { answerXml, type Call, type S3Response } from "./call.ts";
import { checkDocument } from "./checksums.ts";
import { codeOfReason, S3Error } from "./errors.ts";
import { wholePayload } from "./payload.ts";
import type { XmlElement } from "./xml.ts";
import { childrenOf, readXml, textOf } from "./xml-reader.ts";

interface Named {
  readonly key: string;
  readonly version: string | undefined;
}

interface Refused extends Named {
  readonly code: string;
  readonly message: string;
}

export async function deleteObjects({ engine, operation, request, payload }: Call): Promise<S3Response> {
  const bytes = await wholePayload(payload, 4 * 1024 * 1024);
  checkDocument(request, payload, bytes, hashOf);
  const document = readXml(bytes, "Delete");
  const isQuiet = textOf(document, "Quiet")?.trim().toLowerCase() === "true";
  const named = childrenOf(document, "Object").map((node) => {
    // Keys are never trimmed: a space is part of them.
    const key = textOf(node, "Key");
    if (key === undefined || key === "") throw new S3Error("MalformedXML");
    return { key, version: textOf(node, "VersionId") };
  });
  if (named.length === 0 || named.length > limits.deleteKeys) throw new S3Error("MalformedXML");
  const refused = named.flatMap(refusal);
  const deleted = named.filter(({ key }) => !refused.some((one) => one.key === key));
  await engine.delete(
    operation.bucket,
    deleted.map(({ key }) => key),
  );
  return answerXml("DeleteResult", [
    ...(isQuiet
      ? []
      : deleted.map(
          ({ key, version }): XmlElement => [
            "Deleted",
            [
              ["Key", key],
              ["VersionId", version],
            ],
          ],
        )),
    ...refused.map(
      ({ key, code, message }): XmlElement => [
        "Error",
        [
          ["Key", key],
          ["Code", code],
          ["Message", message],
        ],
      ],
    ),
  ]);
}

function refusal(named: Named): Refused[] {
  if (named.version !== undefined && named.version !== "" && named.version !== "null") {
    return [{ ...named, code: "NoSuchVersion", message: "The specified version does not exist." }];
  }
  try {
    checkKey(named.key);
    return [];
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return [{ ...named, code: codeOfReason[error.reason], message: error.detail }];
  }
}
