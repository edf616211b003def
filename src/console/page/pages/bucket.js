// Page of one bucket, with tabs. Each tab is a file in bucket/ and is loaded on demand. The addresses
// of earlier pages, #/objects and #/rules, open the tab that has replaced them.
import { openDeletion, openEmptying } from "../bucket/bucket-dialogs.js";
import { ask } from "../client/api.js";
import { may } from "../client/permissions.js";
import { currentRoute, go, pageHref } from "../client/router.js";
import { h } from "../elements/dom.js";
import { menuButton } from "../elements/menu.js";
import { tabs } from "../elements/tabs.js";

/** @import { BucketDetailsDocument } from "../../wire-bucket.ts" */
/** @import { View } from "../frame/pages.js" */

/**
 * @typedef {View & { bucket: string, details: BucketDetailsDocument }} TabView Argument of a tab.
 * @typedef {{ element: HTMLElement, tools?: (Node | undefined | false)[], title?: string, heading?: HTMLElement }} TabContent
 */

/** @type {Readonly<Record<string, { label: string, load: () => Promise<{ renderTab: (view: TabView) => Promise<TabContent> }> }>>} */
const all = {
  objects: { label: "Objects", load: () => import("../bucket/objects-tab.js") },
  versions: { label: "Versions and deleted", load: () => import("../bucket/objects-tab.js") },
  uploads: { label: "Uploads", load: () => import("../bucket/uploads-tab.js") },
  settings: { label: "Settings", load: () => import("../bucket/settings-tab.js") },
  metrics: { label: "Metrics", load: () => import("../bucket/metrics-tab.js") },
  access: { label: "Access", load: () => import("../bucket/access-tab.js") },
};

/**
 * @param {string} page
 * @param {URLSearchParams} params
 */
function findTab(page, params) {
  if (page === "rules") return "settings";
  if (page === "objects") return params.has("at") || params.has("deleted") ? "versions" : "objects";
  const tab = params.get("tab") ?? "objects";
  return Object.hasOwn(all, tab) ? tab : "objects";
}

/** @param {View} view */
export async function render(view) {
  const { params, signal, setTitle } = view;
  const bucket = params.get("bucket") ?? params.get("name") ?? "";
  if (bucket === "") {
    go("buckets");
    return h("div", {});
  }
  const tab = findTab(currentRoute().page, params);
  if (tab === "versions" && !params.has("at")) params.set("deleted", "1");
  setTitle(bucket);
  const entry = /** @type {(typeof all)[string]} */ (all[tab]);
  const [details, { renderTab }] = await Promise.all([
    /** @type {Promise<BucketDetailsDocument>} */ (ask("/api/bucket", { query: { bucket }, signal })),
    entry.load(),
  ]);
  const {
    element,
    tools = [],
    title,
    heading = h("h1", {}, bucket),
  } = await renderTab({ ...view, bucket, details });
  setTitle(title ?? (tab === "objects" ? bucket : `${entry.label} of ${bucket}`));
  const links = Object.entries(all).map(([id, { label }]) => ({ id, label, href: tabHref(bucket, id) }));
  return h(
    "div",
    { class: tab === "objects" || tab === "versions" ? "bucket objects" : "bucket" },
    h(
      "div",
      { class: "page-head" },
      heading,
      h("div", { class: "badges bucket-badges" }, ...badges(details)),
      h("div", { class: "head-tools" }, ...tools, bucketMenu(bucket)),
    ),
    tabs("Parts of the bucket", links, tab),
    element,
  );
}

/**
 * @param {string} bucket
 * @param {string} tab
 */
export function tabHref(bucket, tab) {
  return tab === "objects" ? pageHref("objects", { bucket }) : pageHref("bucket", { bucket, tab });
}

/** @param {BucketDetailsDocument} details */
function badges({ name, publication, isPolicyPublic, versioning, isLocked, isEncrypted }) {
  const isPublic = publication !== null || isPolicyPublic;
  return [
    h(
      "a",
      {
        class: isPublic ? "badge public" : "badge",
        href: tabHref(name, "access"),
        title: "Who reaches the bucket",
      },
      isPublic ? "Public" : "Private",
    ),
    versioning === "off" ? undefined : h("span", { class: "badge" }, `Versioning ${versioning}`),
    isLocked ? h("span", { class: "badge locked" }, "Locks") : undefined,
    isEncrypted ? h("span", { class: "badge" }, "Encrypted") : undefined,
  ];
}

/** @param {string} bucket */
function bucketMenu(bucket) {
  const reload = () => dispatchEvent(new HashChangeEvent("hashchange"));
  const items = [
    may("edit", bucket) && {
      ...{ label: "Empty bucket…", icon: /** @type {const} */ ("remove"), danger: true },
      run: () => openEmptying(bucket, reload),
    },
    may("administer", bucket) && {
      ...{ label: "Delete bucket…", icon: /** @type {const} */ ("remove"), danger: true },
      run: () => void openDeletion(bucket, () => go("buckets")),
    },
  ];
  return items.some(Boolean) && menuButton({ label: `Actions for ${bucket}`, items });
}
