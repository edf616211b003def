// An ingested body: its size, its hashes and the location of its bytes. No record references it
// yet.
import type { ExpectedChecksum } from "../../model/checksums/checksum.ts";
import type { Checksums } from "../../model/object.ts";
import type { StagedBlob } from "../blobs.ts";
import type { DataKey } from "../encryption/sealed-blocks.ts";

export interface IngestOptions {
  readonly bucket: string;
  /** The key with which the bytes are encrypted, if any. */
  readonly dataKey?: DataKey | undefined;
  /** Default: the MD5 of the plain bytes. */
  readonly etag?: "md5" | "random" | undefined;
  /** The part number, or 0 for the body of an object that is put in one request. */
  readonly part: number;
  readonly checksums?: readonly ExpectedChecksum[] | undefined;
  /** Bodies up to this size are returned as bytes; larger bodies are staged as a blob. */
  readonly inlineBytes: number;
}

export interface IngestedBody {
  /** Size of the body as sent, before encryption. */
  readonly size: number;
  readonly etag: string;
  readonly checksums: Checksums;
  readonly storage: { readonly inline: Uint8Array } | { readonly blob: StagedBlob };
}
