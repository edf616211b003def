// Names of a Workers Site, the older kind of static files: the script reads them from a namespace.

export const siteBinding = "__STATIC_CONTENT";
/** The module, and in the service-worker syntax the global, that maps paths to keys. */
export const siteManifestName = "__STATIC_CONTENT_MANIFEST";
/** Empty: the key of a file is its path, which libraries use for paths that the manifest does not have. */
export const siteManifest = "{}";
