// Names of a Workers Site, the predecessor of static assets, with its files in a KV namespace.

export const siteBinding = "__STATIC_CONTENT";
/** Name of the manifest, which maps paths to keys: a module, or a global in a service worker. */
export const siteManifestName = "__STATIC_CONTENT_MANIFEST";
/** The manifest is empty: for a path that it does not contain, libraries use the path as key. */
export const siteManifest = "{}";
