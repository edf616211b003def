// GetObjectAttributes: returns the requested attributes of an object.
import type { ObjectPart } from "../../engine/engine.ts";
import { attributeChecksumElements, partChecksumElements } from "../body/checksums.ts";
import type { XmlElement } from "../body/xml-writer.ts";
import { answerXml, type Call, httpTime, type S3Response } from "../call.ts";
import { S3Error } from "../errors.ts";
import { readCustomerKey } from "../headers/customer-key.ts";
import { shownStorageClass } from "../headers/passthrough.ts";
import { missingObject, versionHeaders } from "../headers/versions.ts";

const attributeNames = ["ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"] as const;

export async function getObjectAttributes(call: Call): Promise<S3Response> {
  const { engine, operation, request } = call;
  const { rawHeaders } = request.http;
  const requested = rawHeaders
    .filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === "x-amz-object-attributes")
    .flatMap((value) => value.split(","))
    .map((name) => name.trim());
  const isValid = requested.every((name) => attributeNames.some((one) => one === name));
  if (requested.length === 0 || !isValid) {
    throw new S3Error("InvalidArgument", { message: "Invalid attribute name specified." });
  }
  const customerKey = readCustomerKey(request);
  const { bucket, key, version } = operation;
  const described = await engine.describe(bucket, key, { customerKey, version });
  if (described.outcome !== "found") {
    const marker = described.outcome === "missing" ? described.marker : undefined;
    throw missingObject({ key, version, method: request.method, marker });
  }
  const { record, parts } = described;
  const has = (name: (typeof attributeNames)[number]) => requested.includes(name);
  const elements: XmlElement[] = [];
  if (has("ETag")) elements.push(["ETag", record.etag]);
  const checksums = has("Checksum") ? attributeChecksumElements(record) : [];
  if (checksums.length > 0) {
    elements.push(["Checksum", checksums]);
  }
  if (has("ObjectParts") && parts !== undefined) elements.push(["ObjectParts", partElements(request, parts)]);
  if (has("StorageClass")) elements.push(["StorageClass", shownStorageClass(record)]);
  if (has("ObjectSize")) elements.push(["ObjectSize", record.size]);
  return answerXml("GetObjectAttributesResponse", elements, [
    ["last-modified", httpTime(record.uploaded)],
    ...versionHeaders(call.bucket, record),
  ]);
}

type Parts = readonly ObjectPart[];

function partElements({ header }: Call["request"], parts: Parts): XmlElement[] {
  const limit = numberHeader(header("x-amz-max-parts"), 1000);
  const marker = numberHeader(header("x-amz-part-number-marker"), 0);
  const remaining = parts.filter(({ number }) => number > marker);
  const shown = remaining.slice(0, Math.min(limit, 1000));
  return [
    ["PartsCount", parts.length],
    ["PartNumberMarker", marker],
    ["NextPartNumberMarker", shown.at(-1)?.number],
    ["MaxParts", limit],
    ["IsTruncated", shown.length < remaining.length],
    ...shown.map(
      ({ number, size, checksums }): XmlElement => [
        "Part",
        [["PartNumber", number], ["Size", size], ...partChecksumElements(checksums)],
      ],
    ),
  ];
}

function numberHeader(text: string | undefined, defaultValue: number): number {
  if (text === undefined) return defaultValue;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new S3Error("InvalidArgument", { message: "Part numbers and counts must be whole numbers." });
}
