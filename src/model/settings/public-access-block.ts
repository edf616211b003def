// Limits what can make a bucket public.

export interface PublicAccessBlock {
  /** The two switches for ACLs have no effect, because ACLs never give access. */
  readonly blockPublicAcls: boolean;
  readonly ignorePublicAcls: boolean;
  /** Refuses new policies that are public. */
  readonly blockPublicPolicy: boolean;
  /** A public policy gives access to the account of the bucket only. */
  readonly restrictPublicBuckets: boolean;
}
