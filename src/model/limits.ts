// All numeric limits of the service.

const KiB = 1024;
const MiB = 1024 * KiB;

export const dayMilliseconds = 24 * 3600 * 1000;

export const limits = {
  keyBytes: 1024,
  passthroughBytes: 4096,
  customMetadataBytes: 8192,
  httpMetadataBytes: 8192,
  listEntries: 1000,
  /** Number of keys that one step of a search compares: a few milliseconds of work. */
  searchKeys: 10_000,
  /** A page ends early when it contains about this many bytes of metadata (spec 4, list rule 1). */
  listMetadataBytes: 256 * KiB,
  deleteKeys: 1000,
  partNumber: 10_000,
  /** Maximum size of a put or of a part. */
  singleWriteBytes: 5_363_466_240,
  objectBytes: 5_492_189_429_760,
  /** Minimum part size in the S3 API, for every part except the last. */
  s3PartBytes: 5 * MiB,
  uploadLifetime: 7 * dayMilliseconds,
  /** Default maximum number of open uploads per bucket. */
  openUploads: 100_000,
  /** Retention of an ended upload, so that a repeated complete or abort is recognized. */
  endedUploadRetention: 7 * dayMilliseconds,
  ssecKeyBytes: 32,
  /** Bodies up to this size are stored inside their record. */
  inlineBytes: 4 * KiB,
  /** Unit of checksums and encryption: a range can be verified without reading the whole body. */
  blockBytes: 64 * KiB,
} as const;
