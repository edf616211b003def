// Page of one object: preview, metadata, tags, versions and actions; also of a deleted object, and
// of an object as of an earlier time.
import { ApiError, address, ask } from "../client/api.js";
import { may } from "../client/permissions.js";
import { go, pageHref } from "../client/router.js";
import { copyText } from "../elements/copy.js";
import { h, icon } from "../elements/dom.js";
import { bytes, number, time } from "../elements/format.js";
import { icons } from "../elements/icons.js";
import { menuButton } from "../elements/menu.js";
import { noteFailure } from "../elements/notices.js";
import { addShortcuts } from "../frame/shortcuts.js";
import { breadcrumbs } from "../objects/breadcrumbs.js";
import { openMove, openRename } from "../objects/copying.js";
import { openDeletion } from "../objects/deletion.js";
import { parseAt } from "../objects/history-tools.js";
import { lockBadge, lockFacts, openLockForm } from "../objects/locks.js";
import { httpFields, openMetadataForm } from "../objects/metadata-form.js";
import { maskControls } from "../objects/row.js";
import { copyUrl, openShare, openSignedLink } from "../objects/sharing.js";
import { openTagsForm } from "../objects/tags-form.js";
import { versionsSection } from "../objects/versions.js";
import { preview } from "../preview/preview.js";

/** @import { ObjectDocument, ObjectLockDocument, VersionsDocument } from "../../wire-types.ts" */
/** @import { Entry } from "../objects/listing.js" */
/** @import { View } from "../frame/pages.js" */

/** @param {View} view */
export async function render({ params, signal, setTitle }) {
  const bucket = params.get("bucket") ?? "";
  const key = params.get("key") ?? "";
  setTitle(key);
  const at = parseAt(params);
  const content = h("div", { class: "object" });
  const refreshSafely = () => void refresh().catch(noteFailure);

  async function refresh() {
    if (at !== undefined) content.replaceChildren(...(await historyContent(bucket, key, { at, signal })));
    else await showCurrent();
  }

  async function showCurrent() {
    const object = await findObject(bucket, key, signal);
    /** @type {VersionsDocument} */
    const page = await ask("/api/versions", { query: { bucket, key }, signal });
    const versions = versionsSection({ bucket, key, page, signal, refresh });
    if (object instanceof ApiError) {
      if (page.versions.length === 0) throw object;
      content.replaceChildren(...deletedContent(bucket, key, versions));
      return;
    }
    const edit = () => openMetadataForm(bucket, object, refreshSafely);
    const editTags = () => openTagsForm(bucket, object, refreshSafely);
    const editLock = () =>
      openLockForm(
        bucket,
        /** @type {ObjectDocument & { objectLock: ObjectLockDocument }} */ (object),
        refreshSafely,
      );
    const canEdit = may("edit", bucket);
    content.replaceChildren(
      h("div", { class: "page-head" }, breadcrumbs(bucket, key), actions(bucket, object, edit)),
      h(
        "div",
        { class: "object-parts" },
        h("section", { class: "card", "aria-label": "Preview" }, preview(bucket, object, signal)),
        h(
          "div",
          { class: "object-facts" },
          ...facts(object, {
            editTags: canEdit ? editTags : undefined,
            editLock: may("administer", bucket) ? editLock : undefined,
          }),
        ),
        object.versioning === "off" ? undefined : versions,
      ),
    );
    addShortcuts(signal, [
      ...(canEdit ? [{ key: "e", does: "Edit metadata", run: edit }] : []),
      { key: "k", does: "Copy the key", run: () => void copyText(key, "key") },
    ]);
  }

  await refresh();
  return content;
}

/**
 * Returns the error instead of throwing it if the object does not exist: it may be deleted.
 *
 * @param {string} bucket
 * @param {string} key
 * @param {AbortSignal} signal
 * @returns {Promise<ObjectDocument | ApiError>}
 */
async function findObject(bucket, key, signal) {
  try {
    return await ask("/api/object", { query: { bucket, key }, signal });
  } catch (error) {
    if (error instanceof ApiError && error.code === "NoSuchKey") return error;
    throw error;
  }
}

/**
 * @param {string} bucket
 * @param {string} key
 * @param {HTMLElement} versions
 */
function deletedContent(bucket, key, versions) {
  return [
    h("div", { class: "page-head" }, breadcrumbs(bucket, key)),
    h(
      "div",
      { class: "notice history", role: "note" },
      h(
        "span",
        {},
        "This object is deleted.",
        may("edit", bucket) ? " Restore a version to bring it back." : "",
      ),
    ),
    versions,
  ];
}

/**
 * @param {string} bucket
 * @param {string} key
 * @param {{ at: number, signal: AbortSignal }} options
 */
async function historyContent(bucket, key, { at, signal }) {
  /** @type {ObjectDocument} */
  const object = await ask("/api/object", { query: { bucket, key, at }, signal });
  const isReadable = object.encryptionKeyMd5 === undefined;
  return [
    h(
      "div",
      { class: "page-head" },
      breadcrumbs(bucket, key, { at: String(at) }),
      isReadable ? downloadLink({ bucket, key, at }) : undefined,
    ),
    h(
      "div",
      { class: "notice history", role: "note" },
      h("span", {}, "History: the object as of ", h("strong", {}, time(at)), ". It cannot be changed here."),
      h("a", { class: "button", href: pageHref("object", { bucket, key }) }, "Back to now"),
    ),
    h(
      "div",
      { class: "object-parts" },
      h("section", { class: "card", "aria-label": "Preview" }, preview(bucket, object, signal)),
      h("div", { class: "object-facts" }, ...facts(object)),
    ),
  ];
}

/** @param {{ bucket: string, key: string, at?: number }} query */
function downloadLink(query) {
  return h(
    "a",
    { class: "button", href: address("/api/content", query), download: "" },
    icon(icons.download),
    "Download",
  );
}

/**
 * @param {string} bucket
 * @param {ObjectDocument} object
 * @param {() => void} edit
 */
function actions(bucket, object, edit) {
  const { key, encryptionKeyMd5, versioning } = object;
  const isReadable = encryptionKeyMd5 === undefined;
  const canEdit = may("edit", bucket);
  const above = key.slice(0, key.lastIndexOf("/") + 1);
  const leave = async () => go("objects", { bucket, prefix: above });
  /** @type {Entry} */
  const entry = { name: key, folder: false, row: object };
  const remove = () => openDeletion({ bucket, entries: [entry], versioning, done: leave });
  const rename = () => openRename(bucket, entry, (name) => go("object", { bucket, key: name }));
  const move = () =>
    void openMove({ bucket, prefix: above, entries: [entry], done: leave }).catch(noteFailure);
  const copy = () => copyText(key, "key");
  return h(
    "div",
    { class: "head-tools" },
    isReadable ? downloadLink({ bucket, key }) : undefined,
    canEdit && isReadable
      ? h("button", { type: "button", onclick: () => openShare(bucket, key) }, icon(icons.share), "Share")
      : undefined,
    canEdit || object.publicUrl !== null
      ? h(
          "button",
          { type: "button", onclick: () => void copyUrl(bucket, key) },
          icon(icons.copy),
          "Copy URL",
        )
      : undefined,
    menuButton({
      label: "More actions for the object",
      items: [
        { label: "Copy key", icon: "copy", run: () => void copy() },
        canEdit &&
          isReadable && { label: "Signed link…", icon: "share", run: () => openSignedLink(bucket, key) },
        canEdit && "line",
        canEdit && isReadable && { label: "Edit metadata…", icon: "edit", run: edit },
        canEdit && { label: "Rename…", icon: "edit", run: rename },
        canEdit && { label: "Move or copy…", icon: "move", run: move },
        canEdit && "line",
        canEdit && { label: "Delete…", icon: "remove", danger: true, run: remove },
      ],
    }),
  );
}

/**
 * @param {ObjectDocument} object
 * @param {{ editTags?: (() => void) | undefined, editLock?: (() => void) | undefined }} [tools]
 *   missing: not editable
 */
function facts(object, { editTags, editLock } = {}) {
  const { size, uploaded, version, etag, storageClass, parts, encryptionKeyMd5, checksumParts } = object;
  /** @type {[string, string | Node][]} */
  const about = [
    ["Size", `${bytes(size)} (${number(size)} B)`],
    ["Uploaded", time(uploaded)],
    ["Storage class", storageClass],
    ["Version", version],
    ["ETag", etag],
  ];
  if (parts !== undefined) about.push(["Parts", number(parts)]);
  if (encryptionKeyMd5 !== undefined) about.push(["Encryption key MD5", encryptionKeyMd5]);
  const badge = lockBadge(object.lock, "with end");
  if (badge !== undefined) about.push(["Lock", badge]);
  const http = httpFields.flatMap(([name, header]) => {
    const value = object.httpMetadata[name];
    return value === undefined ? [] : [[header, typeof value === "number" ? time(value) : value]];
  });
  const checksums = Object.entries(object.checksums);
  return [
    factCard("Object", about),
    object.objectLock &&
      factCard("Object Lock", lockFacts(object.objectLock), { tool: editTool("Edit lock", editLock) }),
    factCard("HTTP metadata", /** @type {[string, string][]} */ (http), { none: "None." }),
    factCard("Custom metadata", Object.entries(object.customMetadata), { none: "None." }),
    factCard("Tags", Object.entries(object.tags), {
      none: "None.",
      tool: editTool("Edit tags", editTags),
    }),
    factCard(
      checksumParts === undefined ? "Checksums" : `Checksums of ${number(checksumParts)} parts`,
      checksums,
      { none: "None besides the etag." },
    ),
  ];
}

/**
 * @param {string} label
 * @param {(() => void) | undefined} edit
 */
function editTool(label, edit) {
  return edit && h("button", { type: "button", "aria-label": label, onclick: edit }, "Edit");
}

/**
 * @param {string} title
 * @param {readonly (readonly [string, string | Node])[]} pairs
 * @param {{ none?: string, tool?: Node | undefined }} [options]
 */
function factCard(title, pairs, { none = "", tool } = {}) {
  const list = pairs.flatMap(([name, value]) => [
    h("dt", {}, maskControls(name)),
    h("dd", {}, typeof value === "string" ? maskControls(value) : value),
  ]);
  return h(
    "section",
    { class: "card fact-card" },
    h("div", { class: "page-head" }, h("h2", {}, title), tool),
    list.length === 0 ? h("p", { class: "quiet" }, none) : h("dl", {}, ...list),
  );
}
