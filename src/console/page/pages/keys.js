// Page of access keys with permissions and last use; creates, rotates, disables and deletes keys.
import { ask } from "../client/api.js";
import { openConfirmation } from "../elements/dialog.js";
import { h, icon } from "../elements/dom.js";
import { time } from "../elements/format.js";
import { icons } from "../elements/icons.js";
import { emptyCard, note, noteFailure } from "../elements/notices.js";
import { addShortcuts } from "../frame/shortcuts.js";
import { openCreation, openRotation } from "./key-dialogs.js";

/** @import { BucketsDocument, KeyDocument, KeysDocument } from "../../wire-types.ts" */
/** @import { View } from "../frame/pages.js" */

/** @param {View} view */
export async function render({ signal }) {
  const content = h("div", {});

  async function refresh() {
    /** @type {KeysDocument} */
    const { keys, rights } = await ask("/api/keys", { signal });
    create = async () => {
      /** @type {BucketsDocument} */
      const { buckets } = await ask("/api/buckets", { signal });
      openCreation({ buckets: buckets.map(({ name }) => name), rights, refresh });
    };
    const head = h(
      "div",
      { class: "page-head" },
      h("h1", {}, "Keys"),
      h(
        "button",
        { class: "primary", type: "button", onclick: () => create().catch(noteFailure) },
        icon(icons.add),
        "Create key",
      ),
    );
    const rows = keys.map((key) => keyRow(key, refresh));
    content.replaceChildren(head, rows.length === 0 ? emptyState() : table(rows));
  }

  /** @type {() => Promise<void>} */
  let create = async () => {};
  addShortcuts(signal, [{ key: "c", does: "Create a key", run: () => void create().catch(noteFailure) }]);
  await refresh();
  return content;
}

function emptyState() {
  return emptyCard(
    "There are no access keys yet",
    "S3 clients sign requests with an access key. Create one here, or with ",
    h("code", {}, "store key create"),
  );
}

/** @param {readonly HTMLTableRowElement[]} rows */
function table(rows) {
  const names = ["Access key id", "Account", "State", "Permissions", "Created", "Expires", "Last used"];
  return h(
    "div",
    { class: "card table-scroll" },
    h(
      "table",
      { class: "stacks" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ...names.map((name) => h("th", { scope: "col" }, name)),
          h("th", { scope: "col" }, h("span", { class: "unseen" }, "Actions")),
        ),
      ),
      h("tbody", {}, ...rows),
    ),
  );
}

/**
 * @param {KeyDocument} key
 * @param {() => Promise<void>} refresh
 */
function keyRow(key, refresh) {
  const { accessKeyId, name, account, state, created, expires, lastUsed } = key;
  return h(
    "tr",
    {},
    h(
      "th",
      { scope: "row", class: "mono" },
      accessKeyId,
      name === null ? undefined : h("p", { class: "quiet" }, name),
    ),
    h("td", { "data-name": "Account" }, account),
    h("td", { "data-name": "State" }, h("span", { class: `badge ${state}` }, state), previousSecretNote(key)),
    h("td", { "data-name": "Permissions" }, ...grantItems(key)),
    h("td", { "data-name": "Created" }, time(created)),
    h("td", { "data-name": "Expires" }, expires === null ? "never" : time(expires)),
    h("td", { "data-name": "Last used" }, lastUsed === null ? "never" : time(lastUsed)),
    h("td", {}, keyTools(key, refresh)),
  );
}

/** @param {KeyDocument} key */
function previousSecretNote({ previousUntil }) {
  if (previousUntil === null) return undefined;
  return h("p", { class: "quiet" }, `previous secret valid until ${time(previousUntil)}`);
}

/** @param {KeyDocument} key */
function grantItems({ grants }) {
  if (grants === null) return ["Full access"];
  return grants.map(({ bucket, rights }) =>
    h("p", {}, bucket === "*" ? "every bucket" : bucket, ": ", rights.join(", ")),
  );
}

/**
 * @param {KeyDocument} key
 * @param {() => Promise<void>} refresh
 */
function keyTools({ accessKeyId, state }, refresh) {
  const action = state === "disabled" ? "enable" : "disable";
  const change = async () => {
    await ask(`/api/keys/${action}`, { method: "POST", query: { key: accessKeyId }, json: {} });
    note(`Access key ${accessKeyId} is ${action}d.`);
    await refresh();
  };
  return h(
    "div",
    { class: "row-tools" },
    toolButton(
      action === "enable" ? "Enable" : "Disable",
      accessKeyId,
      () => void change().catch(noteFailure),
    ),
    toolButton("Rotate", accessKeyId, () => openRotation(accessKeyId, refresh)),
    toolButton("Delete", accessKeyId, () => openDeletion(accessKeyId, refresh)),
  );
}

/**
 * @param {string} does
 * @param {string} accessKeyId
 * @param {() => void} onclick
 */
function toolButton(does, accessKeyId, onclick) {
  return h("button", { type: "button", "aria-label": `${does} ${accessKeyId}`, onclick }, does);
}

/**
 * @param {string} accessKeyId
 * @param {() => Promise<void>} refresh
 */
function openDeletion(accessKeyId, refresh) {
  openConfirmation({
    name: accessKeyId,
    title: "Delete this access key?",
    submit: "Delete key",
    content: [h("p", {}, "Clients that use this key lose access immediately. This cannot be undone.")],
    async run() {
      await ask("/api/keys", { method: "DELETE", query: { key: accessKeyId } });
      note(`Deleted access key ${accessKeyId}.`);
      await refresh();
    },
  });
}
