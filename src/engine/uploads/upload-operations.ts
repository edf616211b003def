// Operations on multipart uploads and their parts.
import type { ExpectedChecksum, UploadChecksum } from "../../model/checksums/checksum.ts";
import type { Condition } from "../../model/condition.ts";
import type { Key } from "../../model/key.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { PartRecord, UploadedPart, UploadRecord } from "../../model/upload.ts";
import type { Source, WriteOptions } from "../engine.ts";

export interface UploadOperations {
  createUpload(bucket: string, key: Key, options?: UploadOptions): Promise<UploadRecord>;
  uploadPart(
    bucket: string,
    upload: UploadName,
    number: number,
    source: Source,
    options?: PartOptions,
  ): Promise<UploadedPart>;
  completeUpload(
    bucket: string,
    upload: UploadName,
    parts: readonly PartName[],
    options?: CompleteOptions,
  ): Promise<ObjectRecord>;
  /** Returns the result of a completed upload, which is stored for a limited time; then undefined. */
  completedUpload(bucket: string, upload: UploadName): Promise<CompletedUpload | undefined>;
  abortUpload(bucket: string, upload: UploadName, options?: InitiatorOptions): Promise<void>;
  /** Returns active uploads, sorted by key, then by id. */
  listUploads(bucket: string, options?: ListUploadsOptions): Promise<UploadListing>;
  /** Returns the parts of an upload, sorted by number. */
  listParts(bucket: string, upload: UploadName, options?: ListPartsOptions): Promise<PartListing>;
}

/** On an existing upload: throws AccessDenied if another caller, or an unknown one, created it. */
export interface InitiatorOptions {
  /** Names the caller that may use only its own uploads. Undefined: any upload. */
  readonly initiator?: string | undefined;
}

export interface UploadOptions extends WriteOptions, InitiatorOptions {
  readonly checksum?: UploadChecksum | undefined;
}

export interface PartOptions extends InitiatorOptions {
  readonly customerKey?: Uint8Array | undefined;
  readonly checksums?: readonly ExpectedChecksum[] | undefined;
}

export type UploadName = Pick<UploadRecord, "key" | "id">;

export interface PartName {
  readonly number: number;
  readonly etag: string;
  /** If given, must equal the part's checksum. */
  readonly checksum?: ExpectedChecksum | undefined;
}

export interface CompleteOptions extends InitiatorOptions {
  /** "uniform": equal sizes, but the last can be smaller. "s3": at least 5 MiB, except the last. */
  readonly partSizes?: "uniform" | "s3";
  readonly condition?: Condition | undefined;
  readonly checksum?: ExpectedChecksum | undefined;
  /** Must be that of the upload. */
  readonly checksumOf?: UploadChecksum["of"] | undefined;
  /** Optional. If given, must be the upload's key. */
  readonly customerKey?: Uint8Array | undefined;
  /** Expected size of the object, if the caller knows it. */
  readonly size?: number | undefined;
}

export type CompletedUpload = Pick<ObjectRecord, "version" | "etag">;

export interface ListUploadsOptions {
  readonly prefix?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly after?: { readonly key: Key; readonly id?: string | undefined } | undefined;
  readonly limit?: number | undefined;
}

export interface UploadListing {
  readonly uploads: readonly UploadRecord[];
  readonly prefixes: readonly string[];
  /** Start of the next page. Undefined on the last page. */
  readonly next: { readonly key: Key; readonly id?: string } | undefined;
}

export interface ListPartsOptions extends InitiatorOptions {
  /** Return only parts with a greater number. */
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
}

export interface PartListing {
  readonly upload: UploadRecord;
  readonly parts: readonly PartRecord[];
  readonly isTruncated: boolean;
}
