// ACLs and ownership controls. Every object belongs to the owner of its bucket, and only a policy
// gives others access: the one ACL that a bucket or an object has is the owner's full control.
import { toOwner } from "../../../access/keys/credentials.ts";
import type { Ownership } from "../../../model/bucket.ts";
import { checkDocument } from "../../body/checksums.ts";
import { readWholePayload } from "../../body/payload.ts";
import { childText, findChild, findChildren, readXml, type XmlNode } from "../../body/xml-reader.ts";
import type { XmlElement } from "../../body/xml-writer.ts";
import { answer, answerXml, type Call, ownerElements, type S3Response } from "../../call.ts";
import { S3Error } from "../../errors.ts";
import { aclNotSupported } from "../../headers/acl.ts";
import { versionHeaders } from "../../headers/versions.ts";
import { findObject } from "../find-object.ts";

const maxDocumentBytes = 65_536;

/** Returns the owner's full control, as the ACL of the bucket or of the object. */
export async function getAcl(call: Call): Promise<S3Response> {
  const { operation, bucket } = call;
  const headers = operation.key === "" ? [] : versionHeaders(bucket, await findObject(call));
  const owner = ownerElements(bucket?.account ?? "");
  const grantee: XmlElement = [
    "Grantee",
    owner,
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser"',
  ];
  return answerXml(
    "AccessControlPolicy",
    [
      ["Owner", owner],
      ["AccessControlList", [["Grant", [grantee, ["Permission", "FULL_CONTROL"]]]]],
    ],
    headers,
  );
}

export async function putBucketAcl(call: Call): Promise<S3Response> {
  await checkAcl(call);
  return answer(200);
}

export async function putObjectAcl(call: Call): Promise<S3Response> {
  await checkAcl(call);
  return answer(200, versionHeaders(call.bucket, await findObject(call)));
}

/** Accepts what `getAcl` returns. The headers were checked with those of all requests. */
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

/** The names of ownerships in S3. */
const ownershipNames: Readonly<Record<Ownership, string>> = {
  enforced: "BucketOwnerEnforced",
  preferred: "BucketOwnerPreferred",
  writer: "ObjectWriter",
};

export function parseOwnership(text: string | undefined): Ownership | undefined {
  const names = Object.keys(ownershipNames) as Ownership[];
  return names.find((name) => ownershipNames[name] === text);
}

export async function getBucketOwnershipControls({ bucket }: Call): Promise<S3Response> {
  const ownership = bucket?.settings.ownership;
  if (ownership === undefined) throw new S3Error("OwnershipControlsNotFoundError");
  return answerXml("OwnershipControls", [["Rule", [["ObjectOwnership", ownershipNames[ownership]]]]]);
}

export async function putBucketOwnershipControls(call: Call): Promise<S3Response> {
  const { engine, operation, request, payload } = call;
  const bytes = await readWholePayload(payload, maxDocumentBytes);
  checkDocument(request, payload, bytes);
  const [rule, ...others] = findChildren(readXml(bytes, "OwnershipControls"), "Rule");
  const ownership = parseOwnership(childText(rule, "ObjectOwnership")?.trim());
  if (ownership === undefined || others.length > 0) throw new S3Error("MalformedXML");
  await engine.changeSettings(operation.bucket, { ownership });
  return answer(200);
}

export async function deleteBucketOwnershipControls({ engine, operation }: Call): Promise<S3Response> {
  await engine.changeSettings(operation.bucket, { ownership: undefined });
  return answer(204);
}
