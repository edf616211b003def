// All numeric limits of the service.

const KiB = 1024;
const MiB = 1024 * KiB;

export const limits = {
  keyBytes: 1024,
  customMetadataBytes: 8192,
  httpMetadataBytes: 8192,
  listEntries: 1000,
  /** A page ends early once it contains about this much metadata (spec 4, list rule 1). */
  listMetadataBytes: 256 * KiB,
  deleteKeys: 1000,
  partNumber: 10_000,
  /** Maximum size of one put or one part. */
  singleWriteBytes: 5_363_466_240,
  objectBytes: 5_492_189_429_760,
  /** Minimum size of every part but the last in the S3 API. */
  s3PartBytes: 5 * MiB,
  uploadLifetime: 7 * 24 * 3600 * 1000,
  /** Default maximum of open uploads per bucket. */
  openUploads: 100_000,
  /** How long an ended upload is kept, so that a repeated complete or abort is recognised. */
  endedUploadRetention: 7 * 24 * 3600 * 1000,
  ssecKeyBytes: 32,
  /** Bodies up to this size are stored inside their record. */
  inlineBytes: 4 * KiB,
  /** Unit of checksums and encryption, so that a range is verified without reading the whole. */
  blockBytes: 64 * KiB,
} as const;
