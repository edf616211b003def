// Operations on buckets, and fixed responses for bucket settings that are not supported.

import { canSeeBucket } from "../../access/decide.ts";
import { StoreError } from "../../model/errors.ts";
import { checkTags, maxBucketTags } from "../../model/tags.ts";
import { readWholePayload } from "../body/payload.ts";
import { childText, findChild, findChildren, readXml } from "../body/xml-reader.ts";
import type { XmlElement } from "../body/xml-writer.ts";
import { answer, answerXml, type Call, isoTime, ownerElements, type S3Response } from "../call.ts";
import { type ErrorCode, S3Error } from "../errors.ts";
import { readTags } from "../headers/tags.ts";
import { versionHeaders } from "../headers/versions.ts";
import { findObject } from "./find-object.ts";
import { numberParameter } from "./listing.ts";

export async function listBuckets({ engine, caller, request, region }: Call): Promise<S3Response> {
  const { query } = request;
  const prefix = query.get("prefix") ?? "";
  const token = query.get("continuation-token");
  const after = token === undefined ? "" : Buffer.from(token, "base64url").toString();
  const limit = numberParameter(query, "max-buckets", 10_000, 10_000);
  const visible = (await engine.listBuckets()).filter(
    (bucket) => canSeeBucket(caller, bucket) && bucket.name.startsWith(prefix) && bucket.name > after,
  );
  const shown = visible.slice(0, limit);
  const next = shown.length < visible.length ? shown.at(-1) : undefined;
  return answerXml("ListAllMyBucketsResult", [
    ["Owner", ownerElements(caller.account)],
    [
      "Buckets",
      shown.map(
        ({ name, created }): XmlElement => [
          "Bucket",
          [
            ["Name", name],
            ["CreationDate", isoTime(created)],
            ["BucketRegion", query.has("max-buckets") ? region : undefined],
          ],
        ],
      ),
    ],
    ["Prefix", prefix === "" ? undefined : prefix],
    ["ContinuationToken", next === undefined ? undefined : Buffer.from(next.name).toString("base64url")],
  ]);
}

export async function createBucket(call: Call): Promise<S3Response> {
  const { engine, operation, caller, request, payload, region } = call;
  const { bucket: name } = operation;
  checkOwnership(request.header("x-amz-object-ownership"));
  const isLocked = parseLockEnabled(request.header("x-amz-bucket-object-lock-enabled"));
  const document = await readWholePayload(payload, 65_536);
  const tags = document.length > 0 ? readConfiguration(document, region) : undefined;
  try {
    await engine.createBucket(name, { account: caller.account });
  } catch (error) {
    const isTaken = error instanceof StoreError && error.reason === "BucketConflict";
    const existing = isTaken ? await engine.bucket(name) : undefined;
    if (existing?.account !== caller.account) throw error;
    if (isLocked && existing.settings.objectLock === undefined) throw existsWithoutLock();
    return createdResponse(name);
  }
  if (isLocked) await engine.changeSettings(name, { versioning: "on", objectLock: {} });
  if (tags !== undefined) await engine.changeSettings(name, { tags });
  return createdResponse(name);
}

function createdResponse(name: string): S3Response {
  return answer(200, [["location", `/${name}`]]);
}

function parseLockEnabled(text: string | undefined): boolean {
  const value = text?.toLowerCase() ?? "false";
  if (value === "true" || value === "false") return value === "true";
  throw new S3Error("InvalidArgument", {
    message: "Invalid x-amz-bucket-object-lock-enabled header: use true or false.",
  });
}

function existsWithoutLock(): S3Error {
  return new S3Error("InvalidBucketState", {
    message:
      "The bucket already exists without Object Lock: enable versioning, then use PutObjectLockConfiguration.",
  });
}

/** Without ACLs, which Store does not have, all kinds of ownership are the same. */
const ownerships = ["BucketOwnerEnforced", "BucketOwnerPreferred", "ObjectWriter"];

function checkOwnership(given: string | undefined): void {
  if (given === undefined || ownerships.includes(given)) return;
  throw new S3Error("InvalidArgument", {
    message: `Invalid x-amz-object-ownership header: use one of ${ownerships.join(", ")}.`,
  });
}

/** Returns the tags of the new bucket, if the document has any. */
function readConfiguration(document: Uint8Array, region: string): [string, string][] | undefined {
  const configuration = readXml(document, "CreateBucketConfiguration");
  const unsupported = ["Location", "Bucket"].find(
    (name) => (findChild(configuration, name)?.children.length ?? 0) > 0,
  );
  if (unsupported !== undefined) throw new S3Error("NotImplemented", { details: { Element: unsupported } });
  const location = childText(configuration, "LocationConstraint")?.trim() ?? "";
  if (!["", region, "auto", "us-east-1"].includes(location)) throw new S3Error("InvalidLocationConstraint");
  const tags = readTags(findChildren(findChild(configuration, "Tags"), "Tag"));
  checkTags(tags, maxBucketTags);
  return tags.size === 0 ? undefined : [...tags];
}

export async function headBucket({ region }: Call): Promise<S3Response> {
  return answer(200, [
    ["x-amz-bucket-region", region],
    ["content-type", "application/xml"],
  ]);
}

export async function deleteBucket({ engine, operation }: Call): Promise<S3Response> {
  await engine.deleteBucket(operation.bucket);
  return answer(204);
}

export async function getBucketLocation({ region }: Call): Promise<S3Response> {
  return answerXml("LocationConstraint", region === "us-east-1" ? [] : region);
}

/** Returns a fixed ACL: the bucket's account has full control, other accounts have no access. */
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

export async function getBucketRequestPayment(): Promise<S3Response> {
  return answerXml("RequestPaymentConfiguration", [["Payer", "BucketOwner"]]);
}

/** Returns an operation for an unsupported bucket setting that S3 answers with an empty document. */
export function emptySetting(root: string): () => Promise<S3Response> {
  return async () => answerXml(root, []);
}

/** Returns an operation for an unsupported bucket setting, which always fails with `code`. */
export function settingNotFound(code: ErrorCode): () => Promise<S3Response> {
  return async () => {
    throw new S3Error(code);
  };
}
