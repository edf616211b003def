// The secrets of a script: their names, with dialogs that set and delete one. Values are never shown.
import { ask } from "../client/api.js";
import { may } from "../client/permissions.js";
import { openForm } from "../elements/dialog.js";
import { h, icon } from "../elements/dom.js";
import { icons } from "../elements/icons.js";
import { menuButton } from "../elements/menu.js";
import { note } from "../elements/notices.js";

/** @import { ScriptDocument } from "../../wire-types.ts" */

/**
 * @param {ScriptDocument} script
 * @param {() => Promise<unknown>} refresh
 */
export function secretsField({ name: script, secrets }, refresh) {
  const items = secrets.map((secret) =>
    h(
      "li",
      {},
      h("span", { class: "mono" }, `env.${secret}`),
      may("administer")
        ? menuButton({
            label: `Actions for secret ${secret}`,
            items: [
              { label: "Replace the value", icon: "edit", run: () => openPut(script, secret, refresh) },
              "line",
              {
                ...{ label: "Delete secret", icon: "remove", danger: true },
                run: () => openDeletion(script, secret, refresh),
              },
            ],
          })
        : undefined,
    ),
  );
  return h(
    "div",
    { class: "field secrets" },
    h("h3", {}, "Secrets"),
    items.length === 0
      ? h("p", { class: "quiet" }, "None. A secret is a text that only the script can read, in its env.")
      : h("ul", { class: "chips" }, ...items),
    may("administer")
      ? h(
          "button",
          { class: "small own-width", type: "button", onclick: () => openPut(script, "", refresh) },
          icon(icons.add),
          "Add secret",
        )
      : undefined,
  );
}

/**
 * @param {string} script
 * @param {string} secret empty for a new one
 * @param {() => Promise<unknown>} refresh
 */
function openPut(script, secret, refresh) {
  const name = h("input", {
    ...{ id: "secret-name", class: "mono", autocomplete: "off", spellcheck: "false", required: true },
    ...{ value: secret, readonly: secret !== "", placeholder: "AUTH_KEY" },
  });
  const value = h("input", { id: "secret-value", type: "password", autocomplete: "off", required: true });
  openForm({
    title: secret === "" ? `Add a secret to ${script}` : `Replace ${secret}`,
    submit: "Save secret",
    content: [
      h("div", { class: "field" }, h("label", { for: "secret-name" }, "Name"), name),
      h("div", { class: "field" }, h("label", { for: "secret-value" }, "Value"), value),
      h(
        "p",
        { class: "quiet small-text" },
        "It is stored encrypted and never shown again. A running script gets it when it is reloaded.",
      ),
    ],
    async run() {
      const query = { script, name: name.value.trim() };
      await ask("/api/scripts/secrets", { method: "PUT", query, json: { value: value.value } });
      note(`Set ${name.value.trim()} of script ${script}.`);
      await refresh();
    },
  });
  (secret === "" ? name : value).focus();
}

/**
 * @param {string} script
 * @param {string} secret
 * @param {() => Promise<unknown>} refresh
 */
function openDeletion(script, secret, refresh) {
  openForm({
    ...{ title: `Delete the secret ${secret}?`, submit: "Delete secret", danger: true },
    content: [h("p", {}, `The script ${script} no longer has env.${secret} after its next start.`)],
    async run() {
      await ask("/api/scripts/secrets", { method: "DELETE", query: { script, name: secret } });
      note(`Deleted ${secret} of script ${script}.`);
      await refresh();
    },
  });
}
