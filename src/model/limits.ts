// Every number the service promises or refuses by, in one place.

const KiB = 1024;
const MiB = 1024 * KiB;

export const limits = {
  keyBytes: 1024,
  customMetadataBytes: 8192,
  httpMetadataBytes: 8192,
  listEntries: 1000,
  /** A page stops early once it carries about this much metadata (spec 4, list rule 1). */
  listMetadataBytes: 256 * KiB,
  deleteKeys: 1000,
  partNumber: 10_000,
  /** One put or one part. */
  singleWriteBytes: 5_363_466_240,
  objectBytes: 5_492_189_429_760,
  /** Smallest part but the last that the S3 API takes. */
  s3PartBytes: 5 * MiB,
  uploadLifetime: 7 * 24 * 3600 * 1000,
  /** Open at one time in a bucket, unless the engine is opened with another number. */
  openUploads: 100_000,
  /** How long an ended upload is remembered, so that a repeated complete or abort can be told apart. */
  endedUploadRetention: 7 * 24 * 3600 * 1000,
  ssecKeyBytes: 32,
  /** Bodies up to this size are kept beside their record. */
  inlineBytes: 4 * KiB,
  /** The unit of checksums and of encryption, so that a range is verified without the whole. */
  blockBytes: 64 * KiB,
} as const;
