// The source of an import: objects of another service, with their metadata and checksums.
import type { ExpectedChecksum } from "../../../model/checksums/checksum.ts";
import type { Key } from "../../../model/key.ts";
import type { CustomMetadata, HttpMetadata, StorageClass } from "../../../model/object.ts";
import { CommandError } from "../../framework/command-error.ts";

export interface ImportSource {
  objects(): AsyncIterable<SourceObject>;
  close(): void;
}

export interface SourceObject {
  readonly key: Key;
  readonly size: number;
  /** Without quotes; empty if unknown. */
  readonly etag: string;
  /** Time of the last write, in milliseconds since the epoch. */
  readonly written: number;
  read(): Promise<SourceContent>;
}

export interface SourceContent {
  readonly httpMetadata: HttpMetadata;
  readonly customMetadata: CustomMetadata;
  readonly storageClass: StorageClass | undefined;
  /** Checksums of the whole object; empty if unknown. */
  readonly checksums: readonly ExpectedChecksum[];
  /** Number of parts of a multipart upload, if the etag is computed from the parts' hashes. */
  readonly parts: number | undefined;
  /** Opens the whole object, or one part of it. */
  openBody(part?: number): Promise<SourceBody>;
  /** Releases resources if no body is read. */
  cancel(): void;
}

export interface SourceBody {
  readonly length: number;
  chunks(): AsyncGenerator<Uint8Array>;
  /** Releases resources if the body is not read. */
  cancel(): void;
}

/** The source is unavailable, so all further objects would fail too. */
export class SourceUnavailable extends CommandError {}

/** Returns the part count in the etag of a multipart upload; undefined for other etags. */
export function parsePartCount(etag: string): number | undefined {
  const count = /^[0-9a-f]{32}-(\d{1,5})$/.exec(etag)?.[1];
  return count === undefined ? undefined : Number(count);
}

/** Returns the etag as an MD5 checksum; undefined if it does not have that form. */
export function parseMd5Etag(etag: string): ExpectedChecksum | undefined {
  return /^[0-9a-f]{32}$/.test(etag) ? { algorithm: "md5", value: Buffer.from(etag, "hex") } : undefined;
}
