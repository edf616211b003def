// ACLs and ownership controls. ACLs are disabled, as in a bucket of S3 whose owner enforces its
// ownership: only the owner's full control can be set, which is what every bucket has.
import { toOwner } from "../../../access/keys/credentials.ts";
import { checkDocument } from "../../body/checksums.ts";
import { readWholePayload } from "../../body/payload.ts";
import { childText, findChild, findChildren, readXml, type XmlNode } from "../../body/xml-reader.ts";
import { answer, answerXml, type Call, type S3Response } from "../../call.ts";
import { S3Error } from "../../errors.ts";
import { aclNotSupported } from "../../headers/acl.ts";
import { versionHeaders } from "../../headers/versions.ts";
import { findObject } from "../find-object.ts";

const maxDocumentBytes = 65_536;

export async function putBucketAcl(call: Call): Promise<S3Response> {
  await checkAcl(call);
  return answer(200);
}

export async function putObjectAcl(call: Call): Promise<S3Response> {
  await checkAcl(call);
  return answer(200, versionHeaders(call.bucket, await findObject(call)));
}

/** The headers were checked with those of all requests. */
async function checkAcl({ request, payload, bucket }: Call): Promise<void> {
  const bytes = await readWholePayload(payload, maxDocumentBytes);
  checkDocument(request, payload, bytes);
  if (bytes.length === 0) {
    if (request.header("x-amz-acl") !== undefined) return;
    throw new S3Error("MissingSecurityHeader");
  }
  const grants = findChildren(findChild(readXml(bytes, "AccessControlPolicy"), "AccessControlList"), "Grant");
  const owner = toOwner(bucket!.account).id;
  if (!grants.every((grant) => isFullControl(grant, owner)) || grants.length === 0) throw aclNotSupported();
}

function isFullControl(grant: XmlNode, owner: string): boolean {
  const permission = childText(grant, "Permission")?.trim();
  return permission === "FULL_CONTROL" && childText(findChild(grant, "Grantee"), "ID")?.trim() === owner;
}

export async function getBucketOwnershipControls(): Promise<S3Response> {
  return answerXml("OwnershipControls", [["Rule", [["ObjectOwnership", "BucketOwnerEnforced"]]]]);
}

export async function putBucketOwnershipControls({ request, payload }: Call): Promise<S3Response> {
  const bytes = await readWholePayload(payload, maxDocumentBytes);
  checkDocument(request, payload, bytes);
  const rules = findChildren(readXml(bytes, "OwnershipControls"), "Rule");
  const ownerships = rules.map((rule) => childText(rule, "ObjectOwnership")?.trim());
  if (ownerships.length !== 1) throw new S3Error("MalformedXML");
  if (ownerships[0] === "BucketOwnerEnforced") return answer(200);
  if (ownerships[0] !== "BucketOwnerPreferred" && ownerships[0] !== "ObjectWriter") {
    throw new S3Error("MalformedXML");
  }
  throw new S3Error("InvalidRequest", {
    message:
      "Only BucketOwnerEnforced is supported: ACLs are disabled, so the bucket owner owns all objects.",
  });
}

/** The default is the only setting there is, so that nothing is to be deleted. */
export async function deleteBucketOwnershipControls(): Promise<S3Response> {
  return answer(204);
}
