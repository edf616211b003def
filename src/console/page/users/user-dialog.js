// Dialogs that create a user and change the roles of one.
import { ask } from "../client/api.js";
import { openForm } from "../elements/dialog.js";
import { h } from "../elements/dom.js";
import { note } from "../elements/notices.js";
import { createRolesFields } from "./roles-fields.js";

/** @import { UserDocument } from "../../wire-administration.ts" */

/** @param {{ buckets: readonly string[], refresh: () => Promise<void> }} options */
export function openUserCreation({ buckets, refresh }) {
  const name = h("input", {
    ...{ id: "user-name", autocomplete: "off", spellcheck: "false", required: true, maxlength: 60 },
    "aria-describedby": "user-name-help",
  });
  const roles = createRolesFields({ buckets, role: "viewer", own: {} });
  openForm({
    ...{ title: "Create user", submit: "Create user" },
    content: [
      h("div", { class: "field" }, h("label", { for: "user-name" }, "Name"), name),
      h("p", { id: "user-name-help", class: "quiet small-text" }, "Letters, digits and . _ @ + -"),
      roles.element,
    ],
    async run() {
      await ask("/api/users", { method: "POST", json: { name: name.value.trim(), ...roles.json() } });
      note(`Created user ${name.value.trim()}. Create a token to sign in with.`);
      await refresh();
    },
  });
  name.focus();
}

/** @param {{ user: UserDocument, buckets: readonly string[], refresh: () => Promise<void> }} options */
export function openUserChange({ user, buckets, refresh }) {
  const { name, role } = user;
  const roles = createRolesFields({ buckets, role, own: user.buckets });
  openForm({
    ...{ title: `Roles of ${name}`, submit: "Save" },
    content: [
      roles.element,
      h("p", { class: "quiet small-text" }, "The change takes effect at once, also in open sessions."),
    ],
    async run() {
      await ask("/api/users", { method: "PUT", json: { name, ...roles.json() } });
      note(`Changed the roles of ${name}.`);
      await refresh();
    },
  });
}
