// Names of a Workers Site, the predecessor of static assets, with its files in a KV namespace.

export const siteBinding = "__STATIC_CONTENT";
/** Name of the manifest, which maps paths to keys: a module, or a global in a service worker. */
export const siteManifestName = "__STATIC_CONTENT_MANIFEST";
/** Until the script is loaded: reading a configuration does not read the files of its site. */
export const emptySiteManifest = "{}";
