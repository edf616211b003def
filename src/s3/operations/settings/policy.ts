// Bucket policies and the public access block.
import { cachedPolicy } from "../../../access/policy/cache.ts";
import { parsePolicy } from "../../../access/policy/parse.ts";
import { maxPolicyBytes, type Policy, PolicyError } from "../../../access/policy/policy.ts";
import { isPublicPolicy } from "../../../access/policy/public-status.ts";
import type { PublicAccessBlock } from "../../../model/settings/public-access-block.ts";
import { checkDocument } from "../../body/checksums.ts";
import { readWholePayload } from "../../body/payload.ts";
import { childText, readXml, type XmlNode } from "../../body/xml-reader.ts";
import { answer, answerXml, type Call, type S3Response } from "../../call.ts";
import { S3Error } from "../../errors.ts";

export async function getBucketPolicy(call: Call): Promise<S3Response> {
  const { policy } = call.bucket!.settings;
  if (policy === undefined) throw new S3Error("NoSuchBucketPolicy");
  return answer(200, [["content-type", "application/json"]], policy);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

export async function putBucketPolicy(call: Call): Promise<S3Response> {
  const { engine, operation, request, payload, bucket } = call;
  const bytes = await readWholePayload(payload, 2 * maxPolicyBytes);
  checkDocument(request, payload, bytes);
  const text = decodePolicy(bytes);
  const policy = parseGiven(text, operation.bucket);
  if (bucket?.settings.publicAccessBlock?.blockPublicPolicy === true && isPublicPolicy(policy)) {
    throw new S3Error("AccessDenied", {
      message: "Access Denied: the public access block of the bucket refuses public policies.",
    });
  }
  await engine.changeSettings(operation.bucket, { policy: text });
  return answer(204);
}

function decodePolicy(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new S3Error("MalformedPolicy", { message: "The policy is not valid UTF-8.", cause });
  }
}

function parseGiven(text: string, bucket: string): Policy {
  try {
    return parsePolicy(text, bucket);
  } catch (error) {
    if (error instanceof PolicyError) throw new S3Error("MalformedPolicy", { message: error.message });
    throw error;
  }
}

export async function deleteBucketPolicy(call: Call): Promise<S3Response> {
  await call.engine.changeSettings(call.operation.bucket, { policy: undefined });
  return answer(204);
}

export async function getBucketPolicyStatus({ bucket }: Call): Promise<S3Response> {
  const { policy } = bucket!.settings;
  if (policy === undefined) throw new S3Error("NoSuchBucketPolicy");
  const parsed = cachedPolicy(policy, bucket!.name);
  return answerXml("PolicyStatus", [["IsPublic", parsed !== "invalid" && isPublicPolicy(parsed)]]);
}

const switches = [
  ["BlockPublicAcls", "blockPublicAcls"],
  ["IgnorePublicAcls", "ignorePublicAcls"],
  ["BlockPublicPolicy", "blockPublicPolicy"],
  ["RestrictPublicBuckets", "restrictPublicBuckets"],
] as const satisfies readonly (readonly [string, keyof PublicAccessBlock])[];

export async function getPublicAccessBlock({ bucket }: Call): Promise<S3Response> {
  const block = bucket!.settings.publicAccessBlock;
  if (block === undefined) throw new S3Error("NoSuchPublicAccessBlockConfiguration");
  return answerXml(
    "PublicAccessBlockConfiguration",
    switches.map(([element, name]) => [element, block[name]] as const),
  );
}

export async function putPublicAccessBlock(call: Call): Promise<S3Response> {
  const { engine, operation, request, payload } = call;
  const bytes = await readWholePayload(payload, 65_536);
  checkDocument(request, payload, bytes);
  const document = readXml(bytes, "PublicAccessBlockConfiguration");
  const publicAccessBlock: PublicAccessBlock = {
    blockPublicAcls: readSwitch(document, "BlockPublicAcls"),
    ignorePublicAcls: readSwitch(document, "IgnorePublicAcls"),
    blockPublicPolicy: readSwitch(document, "BlockPublicPolicy"),
    restrictPublicBuckets: readSwitch(document, "RestrictPublicBuckets"),
  };
  await engine.changeSettings(operation.bucket, { publicAccessBlock });
  return answer(200);
}

function readSwitch(document: XmlNode, name: string): boolean {
  const text = childText(document, name)?.trim().toLowerCase() ?? "false";
  if (text === "true" || text === "false") return text === "true";
  throw new S3Error("MalformedXML", { message: `${name} must be true or false.` });
}

export async function deletePublicAccessBlock({ engine, operation }: Call): Promise<S3Response> {
  await engine.changeSettings(operation.bucket, { publicAccessBlock: undefined });
  return answer(204);
}
