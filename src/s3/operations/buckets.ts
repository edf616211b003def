// Operations on buckets, and fixed responses for bucket settings that are not supported.

import { canSeeBucket } from "../../access/decide.ts";
import type { BucketSettings, Ownership } from "../../model/bucket.ts";
import { StoreError } from "../../model/errors.ts";
import { checkTags, maxBucketTags } from "../../model/tags.ts";
import { readWholePayload } from "../body/payload.ts";
import { childText, findChild, findChildren, readXml } from "../body/xml-reader.ts";
import type { XmlElement } from "../body/xml-writer.ts";
import { answer, answerXml, type Call, isoTime, ownerElements, type S3Response } from "../call.ts";
import { type ErrorCode, S3Error } from "../errors.ts";
import { isPublicAcl, refusePublicAcl } from "../headers/acl.ts";
import { readTags } from "../headers/tags.ts";
import { defaultRegion, isAcceptedRegion, mayCreateAgain } from "../regions.ts";
import { numberParameter } from "./listing.ts";
import { parseOwnership } from "./settings/acl.ts";

export async function listBuckets({ engine, caller, request }: Call): Promise<S3Response> {
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
          ],
        ],
      ),
    ],
    ["Prefix", prefix === "" ? undefined : prefix],
    ["ContinuationToken", next === undefined ? undefined : Buffer.from(next.name).toString("base64url")],
  ]);
}

export async function createBucket(call: Call): Promise<S3Response> {
  const { engine, operation, caller, request, payload, blocksPublicAccess } = call;
  const { bucket: name } = operation;
  const ownership = readOwnership(request);
  if (blocksPublicAccess === true) refusePublicAcl(request.header("x-amz-acl"));
  const isLocked = parseLockEnabled(request.header("x-amz-bucket-object-lock-enabled"));
  const document = await readWholePayload(payload, 65_536);
  const settings: BucketSettings = {
    ...(document.length > 0 ? readConfiguration(document, call) : {}),
    ...(ownership === undefined ? {} : { ownership }),
    ...(isLocked ? { versioning: "on", objectLock: {} } : {}),
  };
  try {
    await engine.createBucket(name, { account: caller.account });
  } catch (error) {
    const isTaken = error instanceof StoreError && error.reason === "BucketConflict";
    const existing = isTaken ? await engine.bucket(name) : undefined;
    if (existing?.account !== caller.account) throw error;
    if (!mayCreateAgain(settings.region)) throw new S3Error("BucketAlreadyOwnedByYou");
    if (isLocked && existing.settings.objectLock === undefined) throw existsWithoutLock();
    return createdResponse(name);
  }
  if (Object.keys(settings).length > 0) await engine.changeSettings(name, settings);
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

function readOwnership({ header }: Call["request"]): Ownership | undefined {
  const text = header("x-amz-object-ownership");
  if (text === undefined) return undefined;
  const ownership = parseOwnership(text);
  if (ownership === undefined) {
    throw new S3Error("InvalidArgument", {
      message:
        "Invalid x-amz-object-ownership header: use BucketOwnerEnforced, BucketOwnerPreferred or ObjectWriter.",
    });
  }
  if (ownership === "enforced" && isPublicAcl(header("x-amz-acl"))) {
    throw new S3Error("InvalidBucketAclWithObjectOwnership");
  }
  return ownership;
}

/** Returns the settings of the new bucket that the document has. */
function readConfiguration(document: Uint8Array, { configuredRegion }: Call): BucketSettings {
  const configuration = readXml(document, "CreateBucketConfiguration");
  const unsupported = ["Location", "Bucket"].find(
    (name) => (findChild(configuration, name)?.children.length ?? 0) > 0,
  );
  if (unsupported !== undefined) throw new S3Error("NotImplemented", { details: { Element: unsupported } });
  const region = childText(configuration, "LocationConstraint")?.trim() ?? "";
  if (!isAcceptedRegion(region, configuredRegion)) throw new S3Error("InvalidLocationConstraint");
  const tags = readTags(findChildren(findChild(configuration, "Tags"), "Tag"));
  checkTags(tags, maxBucketTags);
  return { ...(region === "" ? {} : { region }), ...(tags.size === 0 ? {} : { tags: [...tags] }) };
}

export async function headBucket(call: Call): Promise<S3Response> {
  return answer(200, [
    ["x-amz-bucket-region", regionOf(call)],
    ["content-type", "application/xml"],
  ]);
}

function regionOf({ bucket, configuredRegion }: Call): string {
  return bucket?.settings.region ?? configuredRegion ?? defaultRegion;
}

export async function deleteBucket({ engine, operation }: Call): Promise<S3Response> {
  await engine.deleteBucket(operation.bucket);
  return answer(204);
}

/** As in S3, us-east-1 is an empty element. */
export async function getBucketLocation(call: Call): Promise<S3Response> {
  const region = regionOf(call);
  return answerXml("LocationConstraint", region === "us-east-1" ? [] : region);
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
