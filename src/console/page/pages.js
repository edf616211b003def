// All pages of the console. A page is a file in pages/ and a row here; it is loaded on demand.

/**
 * @typedef {object} View Argument of a page's render function.
 * @property {URLSearchParams} params
 * @property {AbortSignal} signal aborted when another page is opened
 * @property {(title: string) => void} setTitle sets the window title; default: the page's title
 */

/**
 * @typedef {object} Page
 * @property {string} id the page's name in the URL
 * @property {string} title
 * @property {keyof typeof import("./icons.js").icons} [icon] missing: not in the navigation
 * @property {string} [under] id of the page that the navigation marks as current
 * @property {() => Promise<{ render: (view: View) => Promise<Node> }>} load
 */

/** @type {readonly Page[]} */
export const pages = [
  { id: "buckets", title: "Buckets", icon: "buckets", load: () => import("./pages/buckets.js") },
  { id: "objects", title: "Objects", under: "buckets", load: () => import("./pages/objects.js") },
  { id: "object", title: "Object", under: "buckets", load: () => import("./pages/object.js") },
  { id: "uploads", title: "Uploads", icon: "uploads", load: () => import("./pages/uploads.js") },
  { id: "keys", title: "Keys", icon: "keys", load: () => import("./pages/keys.js") },
  { id: "rules", title: "Settings", icon: "rules", load: () => import("./pages/rules.js") },
  { id: "metrics", title: "Metrics", icon: "metrics", load: () => import("./pages/metrics.js") },
  { id: "scripts", title: "Scripts", icon: "scripts", load: () => import("./pages/scripts.js") },
];
