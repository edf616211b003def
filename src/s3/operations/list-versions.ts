// ListObjectVersions: all versions and delete markers; of one key, the newest first.
import type { ListedVersion } from "../../engine/records.ts";
import type { VersionPosition } from "../../model/listing.ts";
import { isDeleteMarker, versionId } from "../../model/version.ts";
import type { XmlElement } from "../body/xml-writer.ts";
import { answerXml, type Call, isoTime, type S3Response } from "../call.ts";
import { S3Error } from "../errors.ts";
import { checkVersionId } from "../headers/versions.ts";
import {
  type ListParameters,
  objectElements,
  ownerElement,
  positionAfter,
  prefixElements,
  readListParameters,
} from "./listing.ts";

export async function listObjectVersions(call: Call): Promise<S3Response> {
  const { engine, operation, request } = call;
  const given = readListParameters(request, "max-keys");
  const { prefix, delimiter, limit, text } = given;
  const marker = request.query.get("key-marker") ?? "";
  const idMarker = request.query.get("version-id-marker") ?? "";
  const after = readPosition(marker, idMarker, given);
  const page = await engine.listVersions(operation.bucket, { prefix, delimiter, limit, after });
  const isTruncated = limit > 0 && page.next !== undefined;
  const last = page.next?.kind === "key" ? page.versions.at(-1)?.version : undefined;
  const owner = ownerElement(call);
  return answerXml("ListVersionsResult", [
    ["Name", operation.bucket],
    ["Prefix", text(prefix)],
    ["KeyMarker", text(marker)],
    ["VersionIdMarker", idMarker],
    ["NextKeyMarker", isTruncated ? text(page.next!.value) : undefined],
    ["NextVersionIdMarker", isTruncated && last !== undefined ? versionId(last) : undefined],
    ["MaxKeys", limit],
    ["Delimiter", delimiter === "" ? undefined : text(delimiter)],
    ["IsTruncated", isTruncated],
    ["EncodingType", given.encoding],
    ...page.versions.map((listed) => versionElement(listed, text, owner)),
    ...prefixElements(page.prefixes, text),
  ]);
}

/** Some clients send an empty version-id-marker, which means none. */
function readPosition(marker: string, id: string, given: ListParameters): VersionPosition | undefined {
  const position = positionAfter(marker, given);
  if (id === "") return position;
  if (position === undefined)
    throw new S3Error("InvalidArgument", {
      message: "A version-id marker cannot be specified without a key marker.",
      details: { ArgumentName: "version-id-marker", ArgumentValue: id },
    });
  const version = checkVersionId(id, "version-id-marker");
  return position.kind === "key" ? { ...position, version } : position;
}

function versionElement(
  { version, isCurrent }: ListedVersion,
  text: ListParameters["text"],
  owner: XmlElement,
): XmlElement {
  const id: readonly XmlElement[] = [
    ["VersionId", versionId(version)],
    ["IsLatest", isCurrent],
  ];
  if (!isDeleteMarker(version)) return ["Version", [...id, ...objectElements(version, text, owner)]];
  const { key, uploaded } = version;
  return ["DeleteMarker", [...id, ["Key", text(key)], ["LastModified", isoTime(uploaded)], owner]];
}
