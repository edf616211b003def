// Settings of a public bucket: folder index, page for missing keys, and browser caching.

export interface Publication {
  /** Name of the object shown for a folder, such as "index.html". */
  readonly index?: string | undefined;
  /** Key of the object shown for a missing key. */
  readonly notFound?: string | undefined;
  /** Default for objects without a cache-control of their own. */
  readonly cacheControl?: string | undefined;
  /** Host names that serve this bucket only. */
  readonly domains?: readonly string[] | undefined;
}
