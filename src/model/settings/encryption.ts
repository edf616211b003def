// The default encryption of a bucket's new objects.

export interface EncryptionSetting {
  readonly algorithm: "AES256";
  /** As an S3 client sent it. It has no effect, because no key is fetched over the network. */
  readonly bucketKeyEnabled?: boolean;
}
