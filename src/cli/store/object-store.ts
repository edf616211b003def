// The store as object and bucket commands see it. The engine implements it, and so does an S3
// service; a command does not know which of them it works on.
import type { AuditAction } from "../../audit/audit-log.ts";
import type { Engine, VersionOptions } from "../../engine/engine.ts";
import type { Documents } from "../../engine/records.ts";
import type { Bucket, SettingName } from "../../model/bucket.ts";
import type { Key } from "../../model/key.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { ObjectAddress } from "./object-address.ts";

type EngineOperations = Pick<
  Engine,
  | "createBucket"
  | "listBuckets"
  | "deleteBucket"
  | "changeSettings"
  | "describe"
  | "get"
  | "put"
  | "delete"
  | "list"
  | "listVersions"
  | "deleteVersions"
  | "setTags"
  | "setRetention"
  | "setLegalHold"
  | "totals"
>;

/** Uploads in parts. A service is not asked for them: its `put` splits large bodies itself. */
export type UploadOperations = Pick<Engine, "createUpload" | "uploadPart" | "completeUpload" | "abortUpload">;

export interface ObjectStore extends EngineOperations, Partial<UploadOperations> {
  /**
   * Each setting costs a request to a service: `settings` names those that the caller needs.
   * Default: all.
   */
  bucket(name: string, settings?: readonly SettingName[]): Promise<Bucket | undefined>;
  /** The tags cost a request to a service: they are complete only if requested. */
  head(
    bucket: string,
    key: Key,
    options?: VersionOptions & { readonly withTags?: boolean },
  ): Promise<ObjectRecord | undefined>;
  /** Operations of a service that the engine does not need. */
  readonly service?: ServiceOperations | undefined;
}

export interface ServiceOperations {
  /** Copies inside the service. Fails if the source no longer has the given etag. */
  copy(from: ObjectAddress, record: ObjectRecord, to: ObjectAddress): Promise<ObjectRecord>;
  /** Returns a URL that is authorized by its own signature. */
  presign(address: ObjectAddress, request: { method: string; expiresInSeconds: number }): string;
}

/** A store that a command has opened. */
export interface OpenStore {
  readonly engine: ObjectStore;
  /** Records a finished action in the audit log. A service records it itself. */
  recordAudit(action: AuditAction, subject?: string, detail?: string): Promise<void>;
  /** Frees the space of deleted objects, if this process has to do it. */
  tidy(): Promise<void>;
  /** What only the files of a store have. A service keeps its keys itself. */
  readonly documents?: Documents | undefined;
  /** "always": every new object is encrypted. */
  readonly encryption?: "always" | undefined;
  secretKey?(): Uint8Array;
}
