// A body that was brought in: its size, its hashes and where its bytes are. No record names it yet.
import type { ExpectedChecksum } from "../../model/checksum.ts";
import type { Checksums } from "../../model/object.ts";
import type { StagedBlob } from "../blobs.ts";

export interface IngestOptions {
  readonly bucket: string;
  /** Seals the bytes. */
  readonly dataKey?: Uint8Array | undefined;
  /** Number of the part; 0 for the body of an object that is put in one request. */
  readonly part: number;
  readonly checksums?: readonly ExpectedChecksum[] | undefined;
  /** Bodies up to this size are returned, not staged. */
  readonly inlineBytes: number;
}

export interface IngestedBody {
  /** Bytes as sent: before encryption. */
  readonly size: number;
  readonly etag: string;
  readonly checksums: Checksums;
  readonly storage: { readonly inline: Uint8Array } | { readonly blob: StagedBlob };
}
