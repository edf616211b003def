// The default encryption of a bucket: Get-, Put- and DeleteBucketEncryption.
import type { EncryptionSetting } from "../../model/settings/encryption.ts";
import { checkDocument } from "../body/checksums.ts";
import { readWholePayload } from "../body/payload.ts";
import { childText, findChild, findChildren, readXml, type XmlNode } from "../body/xml-reader.ts";
import type { XmlElement } from "../body/xml-writer.ts";
import { answer, answerXml, type Call, type S3Response } from "../call.ts";
import { S3Error } from "../errors.ts";
import { checkAlgorithm } from "../headers/server-side-encryption.ts";

export async function getBucketEncryption({ engine, bucket }: Call): Promise<S3Response> {
  const always: EncryptionSetting | undefined =
    engine.encryption.mode === "always" ? { algorithm: "AES256" } : undefined;
  const setting = bucket?.settings.encryption ?? always;
  if (setting === undefined) throw new S3Error("ServerSideEncryptionConfigurationNotFoundError");
  return answerXml("ServerSideEncryptionConfiguration", encryptionElements(setting));
}

export function encryptionElements({ algorithm, bucketKeyEnabled = false }: EncryptionSetting): XmlElement[] {
  const byDefault: XmlElement = ["ApplyServerSideEncryptionByDefault", [["SSEAlgorithm", algorithm]]];
  return [["Rule", [byDefault, ["BucketKeyEnabled", bucketKeyEnabled]]]];
}

export async function putBucketEncryption(call: Call): Promise<S3Response> {
  const { engine, operation, request, payload } = call;
  const bytes = await readWholePayload(payload, 65_536);
  checkDocument(request, payload, bytes);
  const encryption = readEncryption(readXml(bytes, "ServerSideEncryptionConfiguration"));
  await engine.changeSettings(operation.bucket, { encryption });
  return answer(200);
}

export async function deleteBucketEncryption({ engine, operation }: Call): Promise<S3Response> {
  await engine.changeSettings(operation.bucket, { encryption: undefined });
  return answer(204);
}

export function readEncryption(document: XmlNode): EncryptionSetting {
  const [rule, ...others] = findChildren(document, "Rule");
  if (rule === undefined || others.length > 0) throw new S3Error("MalformedXML");
  if (findChild(rule, "BlockedEncryptionTypes") !== undefined) {
    throw new S3Error("NotImplemented", { details: { Element: "BlockedEncryptionTypes" } });
  }
  const byDefault = findChild(rule, "ApplyServerSideEncryptionByDefault");
  const algorithm = byDefault === undefined ? undefined : childText(byDefault, "SSEAlgorithm")?.trim();
  if (byDefault === undefined || algorithm === undefined) throw new S3Error("MalformedXML");
  if (findChild(byDefault, "KMSMasterKeyID") !== undefined && algorithm === "AES256") {
    throw new S3Error("InvalidArgument", {
      message:
        "a KMSMasterKeyID is not applicable if the default sse algorithm is not aws:kms or aws:kms:dsse",
    });
  }
  checkAlgorithm(algorithm);
  const bucketKey = childText(rule, "BucketKeyEnabled")?.trim() ?? "false";
  if (bucketKey !== "true" && bucketKey !== "false") throw new S3Error("MalformedXML");
  return { algorithm: "AES256", ...(bucketKey === "true" ? { bucketKeyEnabled: true } : {}) };
}
