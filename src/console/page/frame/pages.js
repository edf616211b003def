// All pages of the console. A page is a file in pages/ and a row here; it is loaded on demand.
import { may } from "../client/permissions.js";

/** @import { Right } from "../../auth/roles.ts" */

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
 * @property {keyof typeof import("../elements/icons.js").icons} [icon] missing: not in the navigation
 * @property {Right} [needs] right on the whole store without which the page is not offered
 * @property {string} [under] id of the page that the navigation marks as current
 * @property {() => Promise<{ render: (view: View) => Promise<Node> }>} load
 */

/** @type {readonly Page[]} */
export const pages = [
  {
    ...{ id: "overview", title: "Overview", icon: "overview", needs: "view" },
    load: () => import("../pages/overview.js"),
  },
  { id: "buckets", title: "Buckets", icon: "buckets", load: () => import("../pages/buckets.js") },
  { id: "bucket", title: "Bucket", under: "buckets", load: () => import("../pages/bucket.js") },
  { id: "objects", title: "Objects", under: "buckets", load: () => import("../pages/bucket.js") },
  { id: "rules", title: "Settings", under: "buckets", load: () => import("../pages/bucket.js") },
  { id: "object", title: "Object", under: "buckets", load: () => import("../pages/object.js") },
  { id: "uploads", title: "Uploads", under: "buckets", load: () => import("../pages/uploads.js") },
  {
    ...{ id: "keys", title: "Keys", icon: "keys", needs: "administer" },
    load: () => import("../pages/keys.js"),
  },
  {
    ...{ id: "users", title: "Users", icon: "users", needs: "administer" },
    load: () => import("../pages/users.js"),
  },
  {
    ...{ id: "scripts", title: "Scripts", icon: "scripts", needs: "view" },
    load: () => import("../pages/scripts.js"),
  },
  {
    ...{ id: "audit", title: "Audit", icon: "audit", needs: "administer" },
    load: () => import("../pages/audit.js"),
  },
  { id: "settings", title: "Settings", icon: "settings", load: () => import("../pages/settings.js") },
  { id: "sessions", title: "Sessions", under: "settings", load: () => import("../pages/sessions.js") },
];

/** Returns the pages of the navigation that the user may open. */
export function offeredPages() {
  return pages.filter(({ icon, needs }) => icon !== undefined && (needs === undefined || may(needs)));
}
