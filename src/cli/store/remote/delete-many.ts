// DeleteObjects: deletes up to 1,000 keys or versions of an S3 service in one request.
import { childText, type XmlNode } from "../../../s3/body/xml-reader.ts";
import type { XmlElement } from "../../../s3/body/xml-writer.ts";
import { Broken } from "../../../s3-client/http-client.ts";
import { documentText, parseDocument, type RemoteClient } from "./client.ts";

export interface DeleteRequest {
  readonly targets: readonly { readonly key: string; readonly version?: string }[];
  readonly bypassGovernance?: boolean | undefined;
}

export interface DeleteResult {
  readonly key: string;
  readonly version: string | undefined;
  /** Id of the delete marker that was written or removed. */
  readonly marker: string | undefined;
  readonly error: string | undefined;
}

/** Deletes up to 1,000 keys or versions. Returns one result for each, in any order. */
export async function deleteMany(
  client: RemoteClient,
  bucket: string,
  { targets, bypassGovernance }: DeleteRequest,
): Promise<DeleteResult[]> {
  if (targets.length === 0) return [];
  const objects = targets.map(
    ({ key, version }): XmlElement => [
      "Object",
      [
        ["Key", key],
        ["VersionId", version],
      ],
    ],
  );
  const document = await client.write({
    ...{ method: "POST", bucket, query: [["delete", ""]], text: documentText("Delete", objects) },
    headers: bypassGovernance === true ? { "x-amz-bypass-governance-retention": "true" } : {},
  });
  const { children } = parseDocument(document, "DeleteResult", client.host);
  const results = children.filter(({ name }) => name === "Deleted" || name === "Error").map(toResult);
  if (results.length >= targets.length) return results;
  throw client.mapError(new Broken("not every deleted object was answered"));
}

function toResult(node: XmlNode): DeleteResult {
  const isError = node.name === "Error";
  const [code = "", message = ""] = [childText(node, "Code"), childText(node, "Message")];
  return {
    key: childText(node, "Key") ?? "",
    version: childText(node, "VersionId"),
    marker: childText(node, "DeleteMarker") === "true" ? childText(node, "DeleteMarkerVersionId") : undefined,
    error: isError ? `${code}: ${message}` : undefined,
  };
}
