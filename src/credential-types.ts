// Types of temporary credentials, for script authors.

export interface StoreTemporaryCredentialsOptions {
  /** Limits the credentials to keys with this prefix. */
  prefix?: string;
  /** Limits the credentials to keys with one of these prefixes. */
  prefixes?: string[];
  /** Limits the credentials to these keys, in addition to the prefixes. */
  objects?: string[];
  /** Default: `["read"]`. `append` creates objects and does not overwrite them. */
  rights?: ("read" | "write" | "append" | "list" | "delete" | "admin")[];
  /** Names of the permitted S3 operations, such as `GetObject`. Default: all that the rights allow. */
  actions?: string[];
  /** Seconds until the credentials expire, at most seven days. Default: one hour. */
  expiresIn?: number;
}

/** Credentials for an S3 client. */
export interface StoreTemporaryCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly expiration: Date;
  /** URL of the S3 API. */
  readonly endpoint: string;
  readonly bucket: string;
}
