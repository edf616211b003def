// How a bucket is shown to everybody: what stands for a folder, what for a key that is not there, and for how long
// browsers may keep what they got.

export interface Publication {
  /** The name of what is shown for a folder, such as "index.html". */
  readonly index?: string | undefined;
  /** The key of what is shown in the place of what is not there. */
  readonly notFound?: string | undefined;
  /** For objects that say nothing of it themselves. */
  readonly cacheControl?: string | undefined;
  /** Host names that stand for this bucket alone. */
  readonly domains?: readonly string[] | undefined;
}
