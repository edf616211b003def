// Tags of objects and of buckets.
import { checkTags, maxBucketTags } from "../../model/tags.ts";
import { requireAccess, usesRequestTags } from "../auth/authorize.ts";
import { checkDocument } from "../body/checksums.ts";
import { readWholePayload } from "../body/payload.ts";
import { answer, answerXml, type Call, type S3Response } from "../call.ts";
import { S3Error } from "../errors.ts";
import { readTagging, tagSetElement } from "../headers/tags.ts";
import { versionHeaders } from "../headers/versions.ts";
import { findObject } from "./find-object.ts";

const maxDocumentBytes = 65_536;

export async function getObjectTagging(call: Call): Promise<S3Response> {
  const record = await findObject(call);
  return answerXml("Tagging", [tagSetElement(record.tags ?? [])], versionHeaders(call.bucket, record));
}

export async function putObjectTagging(call: Call): Promise<S3Response> {
  const tags = await readDocument(call);
  await checkRequestTags(call, tags);
  return answer(200, await changeTags(call, tags));
}

/** A policy may depend on the new tags, which are known only now. */
async function checkRequestTags(call: Call, requestTags: ReadonlyMap<string, string>): Promise<void> {
  if (call.bucket === undefined || !usesRequestTags(call.caller, call.bucket)) return;
  await requireAccess(call, call.bucket.name, { ...call.operation, name: "PutObjectTagging", requestTags });
}

export async function deleteObjectTagging(call: Call): Promise<S3Response> {
  return answer(204, await changeTags(call, new Map()));
}

async function changeTags(call: Call, tags: ReadonlyMap<string, string>): Promise<S3Response["headers"]> {
  const { engine, operation, bucket } = call;
  // Looks first, so that a delete marker is refused as in every other operation on a version.
  const { version } = await findObject(call);
  const record = await engine.setTags(operation.bucket, operation.key, tags, { version });
  return versionHeaders(bucket, record);
}

export async function getBucketTagging({ bucket }: Call): Promise<S3Response> {
  const tags = bucket?.settings.tags;
  if (tags === undefined) throw new S3Error("NoSuchTagSet");
  return answerXml("Tagging", [tagSetElement(tags)]);
}

export async function putBucketTagging(call: Call): Promise<S3Response> {
  const { engine, operation } = call;
  const tags = await readDocument(call);
  checkTags(tags, maxBucketTags);
  await engine.changeSettings(operation.bucket, { tags: tags.size === 0 ? undefined : [...tags] });
  return answer(204);
}

export async function deleteBucketTagging({ engine, operation }: Call): Promise<S3Response> {
  await engine.changeSettings(operation.bucket, { tags: undefined });
  return answer(204);
}

async function readDocument({ request, payload }: Call): Promise<ReadonlyMap<string, string>> {
  const bytes = await readWholePayload(payload, maxDocumentBytes);
  checkDocument(request, payload, bytes);
  return readTagging(bytes);
}
