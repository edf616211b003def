// Version ids and delete markers in the headers of requests and responses.
import { parseHttpDate } from "../../http/headers.ts";
import type { Bucket } from "../../model/bucket.ts";
import { parseIsoTime } from "../../model/iso-time.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { type DeleteMarker, nullVersion, type Version, versionId } from "../../model/version.ts";
import { type Call, httpTime } from "../call.ts";
import { S3Error } from "../errors.ts";

type Header = readonly [string, string];

const versionHeader = "x-amz-version-id";
const markerHeader: Header = ["x-amz-delete-marker", "true"];
const none: readonly Header[] = [];
const generated = /^[0-9a-f]{32}$/;

/** Whether the text can be a version id. Other texts are refused before the engine is asked. */
export function isVersionId(text: string): boolean {
  return text === nullVersion || generated.test(text);
}

/** Throws InvalidArgument if the text cannot be a version id. */
export function checkVersionId(text: string, argument: string): string {
  if (isVersionId(text)) return text;
  throw new S3Error("InvalidArgument", {
    message: text === "" ? "Version id cannot be the empty string" : "Invalid version id specified",
    details: { ArgumentName: argument, ArgumentValue: text },
  });
}

/** Returns x-amz-version-id for a read. A bucket that was never versioned has no version ids. */
export function versionHeaders(bucket: Bucket | undefined, version: Version): readonly Header[] {
  return bucket?.settings.versioning === undefined ? none : [[versionHeader, versionId(version)]];
}

/** Returns x-amz-version-id for a write. As in S3, a write of the null version has no id. */
export function newVersionHeaders({ version, isVersioned }: ObjectRecord): readonly Header[] {
  return isVersioned === true ? [[versionHeader, version]] : none;
}

/** Returns the headers of a delete that wrote this marker. */
export function markerHeaders(marker: DeleteMarker): readonly Header[] {
  return [markerHeader, [versionHeader, versionId(marker)]];
}

/** Returns the headers of a delete that named a version. */
export function deletedVersionHeaders(
  bucket: Bucket | undefined,
  id: string,
  wasMarker: boolean,
): readonly Header[] {
  if (bucket?.settings.versioning === undefined) return none;
  const header: Header = [versionHeader, id];
  return wasMarker ? [markerHeader, header] : [header];
}

export function sourceVersionHeaders(source: Bucket, record: ObjectRecord): readonly Header[] {
  return source.settings.versioning === undefined
    ? none
    : [["x-amz-copy-source-version-id", versionId(record)]];
}

interface Missing {
  readonly key: string;
  /** The version that the request names. */
  readonly version: string | undefined;
  readonly method: string;
  readonly marker: DeleteMarker | undefined;
}

/** Returns the error for an object that was not found or that a delete marker hides. */
export function missingObject({ key, version, method, marker }: Missing): S3Error {
  if (marker === undefined) {
    if (version === undefined) return new S3Error("NoSuchKey", { details: { Key: key } });
    return new S3Error("NoSuchVersion", { details: { Key: key, VersionId: version } });
  }
  const headers = markerHeaders(marker);
  if (version === undefined) return new S3Error("NoSuchKey", { details: { Key: key }, headers });
  return new S3Error("MethodNotAllowed", {
    details: { Method: method, ResourceType: "DeleteMarker" },
    headers: [...headers, ["allow", "DELETE"], ["last-modified", httpTime(marker.uploaded)]],
  });
}

export const asOfHeader = "x-store-as-of";

/** Returns the time of x-store-as-of, at which a versioned bucket is read. */
export function readTime({
  bucket,
  request,
  operation,
}: Pick<Call, "bucket" | "request" | "operation">): number | undefined {
  const text = request.header(asOfHeader)?.trim();
  if (text === undefined) return undefined;
  const time = parseIsoTime(text) ?? parseHttpDate(text);
  if (time === undefined) {
    throw new S3Error("InvalidArgument", {
      message: `${asOfHeader} must be a time in ISO 8601, such as 2027-01-31T12:00:00Z, or an HTTP date.`,
      details: { ArgumentName: asOfHeader, ArgumentValue: text },
    });
  }
  if (bucket?.settings.versioning === undefined)
    throw new S3Error("InvalidRequest", {
      message: `${asOfHeader} needs a versioned bucket: an object without versions has no past state.`,
    });
  if (operation.version !== undefined)
    throw new S3Error("InvalidRequest", { message: `Specify either ${asOfHeader} or versionId, not both.` });
  return time;
}
