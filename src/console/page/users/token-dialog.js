// Dialogs that create a sign-in token and show it once.
import { ask } from "../client/api.js";
import { copyField } from "../elements/copy-field.js";
import { openDialog, openForm } from "../elements/dialog.js";
import { h } from "../elements/dom.js";
import { createRolesFields } from "./roles-fields.js";

/** @import { NewTokenDocument } from "../../wire-administration.ts" */

const lifetimes = { 1: "1 day", 7: "7 days", 30: "30 days", 90: "90 days", 365: "1 year", "": "never" };

/**
 * @param {object} options
 * @param {readonly string[]} options.buckets
 * @param {readonly string[]} options.users
 * @param {() => Promise<void>} options.refresh
 */
export function openTokenCreation({ buckets, users, refresh }) {
  const name = h("input", { id: "token-name", autocomplete: "off", required: true, maxlength: 60 });
  const owner = h(
    "select",
    { id: "token-user" },
    ...users.map((user) => h("option", { value: user }, `the user ${user}`)),
    h("option", { value: "" }, "roles of its own"),
  );
  const roles = createRolesFields({ buckets, role: "viewer", own: {} });
  const showRoles = () => {
    roles.element.hidden = owner.value !== "";
  };
  owner.addEventListener("change", showRoles);
  showRoles();
  const days = h(
    "select",
    { id: "token-days" },
    ...Object.entries(lifetimes).map(([value, text]) =>
      h("option", { value, selected: value === "30" }, text),
    ),
  );
  const opened = openForm({
    ...{ title: "Create token", submit: "Create token" },
    content: [
      field("token-name", "What it is for", name),
      field("token-user", "It has the roles of", owner),
      roles.element,
      field("token-days", "Expires in", days),
    ],
    async run() {
      const json = {
        ...{ name: name.value, days: days.value || undefined },
        ...(owner.value === "" ? roles.json() : { user: owner.value }),
      };
      /** @type {NewTokenDocument} */
      const made = await ask("/api/tokens", { method: "POST", json });
      await refresh();
      opened.dialog.addEventListener("close", () => showToken(made));
    },
  });
  name.focus();
}

/** @param {NewTokenDocument} made */
function showToken({ token }) {
  /** @type {HTMLDialogElement} */
  const dialog = openDialog(
    h(
      "div",
      {},
      h("h2", { id: "dialog-title" }, "Token created"),
      h("p", { class: "notice" }, "Save the token now: it is not shown again."),
      copyField("Token", token),
      copyField("Sign-in link", `${location.origin}/#token=${token}`),
      h(
        "div",
        { class: "actions" },
        h("button", { class: "primary", type: "button", onclick: () => dialog.close() }, "I have saved it"),
      ),
    ),
  );
}

/**
 * @param {string} id
 * @param {string} label
 * @param {HTMLElement} control
 */
function field(id, label, control) {
  return h("div", { class: "field" }, h("label", { for: id }, label), control);
}
