// GetBucketVersioning and PutBucketVersioning.
import type { Versioning } from "../../model/version.ts";
import { checkDocument } from "../body/checksums.ts";
import { readWholePayload } from "../body/payload.ts";
import { childText, readXml, type XmlNode } from "../body/xml-reader.ts";
import type { XmlElement } from "../body/xml-writer.ts";
import { answer, answerXml, type Call, type S3Response } from "../call.ts";
import { S3Error } from "../errors.ts";

/** A bucket that was never versioned has no Status. */
export async function getBucketVersioning({ bucket }: Call): Promise<S3Response> {
  return answerXml("VersioningConfiguration", versioningElements(bucket?.settings.versioning));
}

export function versioningElements(versioning: Versioning | undefined): XmlElement[] {
  return versioning === undefined ? [] : [["Status", versioning === "on" ? "Enabled" : "Suspended"]];
}

export async function putBucketVersioning(call: Call): Promise<S3Response> {
  const { engine, operation, request, payload } = call;
  const bytes = await readWholePayload(payload, 65_536);
  checkDocument(request, payload, bytes);
  const versioning = readVersioning(readXml(bytes, "VersioningConfiguration"));
  await engine.changeSettings(operation.bucket, { versioning });
  return answer(200);
}

export function readVersioning(document: XmlNode): Versioning {
  const mfaDelete = childText(document, "MfaDelete")?.trim() ?? "Disabled";
  if (mfaDelete !== "Enabled" && mfaDelete !== "Disabled") throw new S3Error("MalformedXML");
  const versioning = parseStatus(childText(document, "Status")?.trim());
  if (mfaDelete === "Enabled")
    throw new S3Error("NotImplemented", {
      message: "MfaDelete is not supported: use Object Lock to keep versions from being deleted.",
    });
  return versioning;
}

function parseStatus(text: string | undefined): Versioning {
  if (text === "Enabled") return "on";
  if (text === "Suspended") return "suspended";
  if (text !== undefined) throw new S3Error("MalformedXML");
  throw new S3Error("IllegalVersioningConfigurationException");
}
