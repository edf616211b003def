// Page of access keys with permissions and last use; creates, rotates, disables and deletes keys.
import { ask } from "../client/api.js";
import { openConfirmation } from "../elements/dialog.js";
import { h, icon } from "../elements/dom.js";
import { focusAgain } from "../elements/focus.js";
import { ago, bytes, number, time } from "../elements/format.js";
import { icons } from "../elements/icons.js";
import { menuButton } from "../elements/menu.js";
import { firstStep, note, noteFailure } from "../elements/notices.js";
import { table, tableRow } from "../elements/table.js";
import { addShortcuts } from "../frame/shortcuts.js";
import { openCreation, openRotation } from "../keys/dialogs.js";

/** @import { BucketsDocument, GrantDocument, KeyDocument, KeysDocument } from "../../wire-types.ts" */
/** @import { Column } from "../elements/table.js" */
/** @import { View } from "../frame/pages.js" */

/** @param {View} view */
export async function render({ params, signal }) {
  const content = h("div", {});

  async function create() {
    /** @type {BucketsDocument} */
    const { buckets } = await ask("/api/buckets", { signal });
    openCreation({ buckets: buckets.map(({ name }) => name), refresh });
  }
  const runCreate = () => void create().catch(noteFailure);
  const createButton = () =>
    h("button", { class: "primary", type: "button", onclick: runCreate }, icon(icons.add), "Create key");

  async function refresh() {
    /** @type {KeysDocument} */
    const { keys } = await ask("/api/keys", { signal });
    const rows = keys.map((key) => keyRow(key, refresh));
    content.replaceChildren(
      rows.length === 0 ? noKeys(createButton()) : table({ label: "Keys", columns, rows, hasTools: true }),
    );
  }

  addShortcuts(signal, [{ key: "c", does: "Create a key", run: runCreate }]);
  await refresh();
  if (params.has("create")) setTimeout(runCreate);
  return h("div", {}, h("div", { class: "page-head" }, h("h1", {}, "Keys"), createButton()), content);
}

/** @param {HTMLElement} action */
function noKeys(action) {
  return firstStep({
    ...{ icon: "keys", title: "No access keys yet", actions: [action] },
    text: [
      "S3 clients sign requests with an access key. Give each client its own key, ",
      "limited to the buckets or prefixes that it needs.",
    ],
  });
}

/** @type {readonly Column[]} */
const columns = [
  { name: "Key" },
  { name: "State" },
  { name: "Permissions" },
  { name: "Expires", kind: "when" },
  { name: "Last used", kind: "when" },
  { name: "Created", kind: "when" },
];

/**
 * @param {KeyDocument} key
 * @param {() => Promise<void>} refresh
 */
function keyRow(key, refresh) {
  const { accessKeyId, name, account, state, created, expires, lastUsed, previousUntil } = key;
  const previous =
    previousUntil === null
      ? undefined
      : h("p", { class: "quiet small-text" }, `previous secret until ${time(previousUntil)}`);
  return tableRow(
    columns,
    [
      [
        name === null ? undefined : h("p", {}, name),
        h("span", { class: "mono" }, accessKeyId),
        account === "default" ? undefined : h("p", { class: "quiet small-text" }, `account ${account}`),
      ],
      [h("span", { class: `badge ${state}` }, state), previous],
      [...grantItems(key), ...limitItems(key)],
      expires === null ? "never" : time(expires),
      lastUsed === null ? "never" : h("span", { title: time(lastUsed) }, ago(lastUsed)),
      time(created),
    ],
    keyMenu(key, refresh),
  );
}

/** @param {KeyDocument} key */
function grantItems({ grants }) {
  if (grants === null) return ["Full access"];
  return grants.map((grant) => h("p", {}, grantScope(grant), ": ", grant.rights.join(", ")));
}

/** @param {KeyDocument} key */
function limitItems({ limits }) {
  const { requestsPerSecond, bytesPerSecond } = limits ?? {};
  const texts = [
    ...(requestsPerSecond === undefined ? [] : [`${number(requestsPerSecond)} requests/s`]),
    ...(bytesPerSecond === undefined ? [] : [`${bytes(bytesPerSecond)}/s`]),
  ];
  return texts.length === 0 ? [] : [h("p", { class: "quiet small-text" }, `at most ${texts.join(", ")}`)];
}

/** @param {GrantDocument} grant */
function grantScope({ bucket, prefix, object }) {
  const name = bucket === "*" ? "every bucket" : bucket;
  if (object !== undefined) return `${name}/${object}`;
  return prefix === undefined ? name : `${name}/${prefix}*`;
}

/**
 * @param {KeyDocument} key
 * @param {() => Promise<void>} refresh
 */
function keyMenu({ accessKeyId, state }, refresh) {
  const action = state === "disabled" ? "enable" : "disable";
  const change = async () => {
    await ask(`/api/keys/${action}`, { method: "POST", query: { key: accessKeyId }, json: {} });
    note(`Access key ${accessKeyId} is ${action}d.`);
    const focused = document.activeElement;
    await refresh();
    focusAgain(focused);
  };
  return menuButton({
    label: `Actions for ${accessKeyId}`,
    items: [
      { label: "Rotate secret", icon: "retry", run: () => openRotation(accessKeyId, refresh) },
      {
        ...{
          label: action === "enable" ? "Enable" : "Disable",
          icon: action === "enable" ? "check" : "pause",
        },
        run: () => void change().catch(noteFailure),
      },
      "line",
      { label: "Delete key", icon: "remove", danger: true, run: () => openDeletion(accessKeyId, refresh) },
    ],
  });
}

/**
 * @param {string} accessKeyId
 * @param {() => Promise<void>} refresh
 */
function openDeletion(accessKeyId, refresh) {
  openConfirmation({
    ...{ name: accessKeyId, title: `Delete the access key ${accessKeyId}?`, submit: "Delete key" },
    content: [h("p", {}, "Clients that sign with it are refused at once.")],
    async run() {
      await ask("/api/keys", { method: "DELETE", query: { key: accessKeyId } });
      note(`Deleted access key ${accessKeyId}.`);
      await refresh();
    },
  });
}
