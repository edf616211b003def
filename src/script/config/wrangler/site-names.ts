// Names of a Workers Site, the predecessor of static assets: the script reads files from a KV
// namespace.

export const siteBinding = "__STATIC_CONTENT";
/** Name of the module that maps paths to keys; in the service-worker syntax, of the global. */
export const siteManifestName = "__STATIC_CONTENT_MANIFEST";
/** Empty: libraries use the path as the key when the manifest does not contain the path. */
export const siteManifest = "{}";
