// What an import reads: objects that somebody else keeps, with all that is known of them.
import type { ExpectedChecksum } from "../../../model/checksum.ts";
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
  /** Without quotes; empty when there is none. */
  readonly etag: string;
  /** When it was last written, in milliseconds since the epoch. */
  readonly written: number;
  read(): Promise<SourceContent>;
}

export interface SourceContent {
  readonly httpMetadata: HttpMetadata;
  readonly customMetadata: CustomMetadata;
  readonly storageClass: StorageClass | undefined;
  /** What the bytes of the whole are known to have; empty when nothing is known. */
  readonly checksums: readonly ExpectedChecksum[];
  /** Those it was made of, when its etag tells their hashes: one after the other. Undefined for one in one piece. */
  readonly parts: number | undefined;
  /** The whole, or the part of this number. */
  openBody(part?: number): Promise<SourceBody>;
  /** For one that is not read after all. */
  cancel(): void;
}

export interface SourceBody {
  readonly length: number;
  chunks(): AsyncGenerator<Uint8Array>;
  /** For one that is not read. */
  cancel(): void;
}

/** The source cannot be asked any more: what is left would fail, too. */
export class SourceUnavailable extends CommandError {}

/** How many parts an etag was made of; undefined for another kind of etag. */
export function parsePartCount(etag: string): number | undefined {
  const count = /^[0-9a-f]{32}-(\d{1,5})$/.exec(etag)?.[1];
  return count === undefined ? undefined : Number(count);
}

/** An etag that may be the MD5 of the bytes. */
export function parseMd5Etag(etag: string): ExpectedChecksum | undefined {
  return /^[0-9a-f]{32}$/.test(etag) ? { algorithm: "md5", value: Buffer.from(etag, "hex") } : undefined;
}
