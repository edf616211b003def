// Settings of a public bucket: folder index, page for missing keys, and browser caching.

export interface Publication {
  /** Name of the object that is served for a folder, such as "index.html". */
  readonly index?: string | undefined;
  /** Key of the object that is served for a missing key. */
  readonly notFound?: string | undefined;
  /** Default Cache-Control header, for objects without this metadata. */
  readonly cacheControl?: string | undefined;
  /** Host names that serve only this bucket. */
  readonly domains?: readonly string[] | undefined;
}
