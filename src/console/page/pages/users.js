// Page of the console's users and sign-in tokens: create, change roles, delete, revoke.
import { ask } from "../client/api.js";
import { describeRoles } from "../client/permissions.js";
import { pageHref } from "../client/router.js";
import { openConfirmation, openForm } from "../elements/dialog.js";
import { h, icon } from "../elements/dom.js";
import { ago, counted, time } from "../elements/format.js";
import { icons } from "../elements/icons.js";
import { menuButton } from "../elements/menu.js";
import { firstStep, note } from "../elements/notices.js";
import { table, tableRow } from "../elements/table.js";
import { tabs } from "../elements/tabs.js";
import { addShortcuts } from "../frame/shortcuts.js";
import { openTokenCreation } from "../users/token-dialog.js";
import { openUserChange, openUserCreation } from "../users/user-dialog.js";

/** @import { TokenDocument, UserDocument, UsersDocument } from "../../wire-administration.ts" */
/** @import { BucketsDocument } from "../../wire-types.ts" */
/** @import { Column } from "../elements/table.js" */
/** @import { View } from "../frame/pages.js" */

/** @param {View} view */
export async function render({ params, signal }) {
  const tab = params.get("tab") === "tokens" ? "tokens" : "users";
  const content = h("div", {});

  async function refresh() {
    /** @type {UsersDocument} */
    const all = await ask("/api/users", { signal });
    loaded = all;
    content.replaceChildren(tab === "users" ? usersView(all) : tokensView(all));
  }
  /** @type {UsersDocument} */
  let loaded = { users: [], tokens: [] };
  /** @type {BucketsDocument} */
  const { buckets } = await ask("/api/buckets", { signal });
  const names = buckets.map(({ name }) => name);

  const create = () => {
    if (tab === "users") openUserCreation({ buckets: names, refresh });
    else openTokenCreation({ buckets: names, users: loaded.users.map(({ name }) => name), refresh });
  };
  const createLabel = tab === "users" ? "Create user" : "Create token";

  /** @param {UsersDocument} all */
  function usersView({ users, tokens }) {
    if (users.length === 0) return noUsers(createButton());
    const rows = users.map((user) => userRow(user, { tokens, buckets: names, refresh }));
    return table({ label: "Users", columns: userColumns, rows, hasTools: true });
  }

  /** @param {UsersDocument} all */
  function tokensView({ tokens }) {
    if (tokens.length === 0) return noTokens(createButton());
    const rows = tokens.map((token) => tokenRow(token, refresh));
    return table({ label: "Tokens", columns: tokenColumns, rows, hasTools: true });
  }

  function createButton() {
    return h("button", { class: "primary", type: "button", onclick: create }, icon(icons.add), createLabel);
  }

  addShortcuts(signal, [{ key: "c", does: createLabel, run: create }]);
  await refresh();
  if (params.has("create")) setTimeout(create);
  return h(
    "div",
    {},
    h("div", { class: "page-head" }, h("h1", {}, "Users"), createButton()),
    tabs(
      "Users",
      [
        { id: "users", label: "Users", href: pageHref("users") },
        { id: "tokens", label: "Tokens", href: pageHref("users", { tab: "tokens" }) },
      ],
      tab,
    ),
    content,
  );
}

/** @type {readonly Column[]} */
const userColumns = [
  { name: "Name" },
  { name: "Roles" },
  { name: "Tokens" },
  { name: "Created", kind: "when" },
];

/**
 * @param {UserDocument} user
 * @param {{ tokens: readonly TokenDocument[], buckets: readonly string[], refresh: () => Promise<void> }} options
 */
function userRow(user, { tokens, buckets, refresh }) {
  const { name, role, created } = user;
  const own = tokens.filter((token) => token.user === name);
  const menu = menuButton({
    label: `Actions for ${name}`,
    items: [
      { label: "Change roles", icon: "edit", run: () => openUserChange({ user, buckets, refresh }) },
      {
        label: "Create token",
        icon: "add",
        run: () => openTokenCreation({ buckets, users: [name], refresh }),
      },
      "line",
      {
        ...{ label: "Delete user", icon: "remove", danger: true },
        run: () => openUserDeletion(user, own.length, refresh),
      },
    ],
  });
  return tableRow(
    userColumns,
    [
      name,
      describeRoles(role, user.buckets) || "none",
      own.length === 0 ? "none" : counted(own.length, "token"),
      time(created),
    ],
    menu,
  );
}

/** @type {readonly Column[]} */
const tokenColumns = [
  { name: "Name" },
  { name: "Belongs to" },
  { name: "State" },
  { name: "Expires", kind: "when" },
  { name: "Last used", kind: "when" },
];

/**
 * @param {TokenDocument} token
 * @param {() => Promise<void>} refresh
 */
function tokenRow(token, refresh) {
  const { id, name, user, role, buckets, state, expires, lastUsed } = token;
  const menu = menuButton({
    label: `Actions for token ${name}`,
    items: [
      { label: "Revoke token", icon: "remove", danger: true, run: () => openRevocation(token, refresh) },
    ],
  });
  return tableRow(
    tokenColumns,
    [
      [name, h("p", { class: "quiet mono" }, id)],
      user === null ? describeRoles(role, buckets) : `user ${user}`,
      h("span", { class: `badge ${state}` }, state),
      expires === null ? "never" : time(expires),
      lastUsed === null ? "never" : h("span", { title: time(lastUsed) }, ago(lastUsed)),
    ],
    menu,
  );
}

/**
 * @param {UserDocument} user
 * @param {number} tokens
 * @param {() => Promise<void>} refresh
 */
function openUserDeletion({ name }, tokens, refresh) {
  openConfirmation({
    ...{ name, title: `Delete user ${name}?`, submit: "Delete user" },
    content: [
      h(
        "p",
        {},
        `Ends every session of ${name}` +
          (tokens === 0 ? "." : ` and revokes ${counted(tokens, "token")}.`) +
          " Objects are not deleted.",
      ),
    ],
    async run() {
      await ask("/api/users", { method: "DELETE", query: { name } });
      note(`Deleted user ${name}.`);
      await refresh();
    },
  });
}

/**
 * @param {TokenDocument} token
 * @param {() => Promise<void>} refresh
 */
function openRevocation({ id, name }, refresh) {
  openForm({
    ...{ title: `Revoke the token ${name}?`, submit: "Revoke token", danger: true },
    content: [h("p", {}, "Ends every session of the token. It cannot be used again.")],
    async run() {
      await ask("/api/tokens", { method: "DELETE", query: { id } });
      note(`Revoked the token ${name}.`);
      await refresh();
    },
  });
}

/** @param {HTMLElement} action */
function noUsers(action) {
  return firstStep({
    ...{ icon: "users", title: "No users yet", actions: [action] },
    text: [
      "A user has roles on the whole store or on single buckets, and signs in with a token or with OpenID. ",
      "A change of roles takes effect at once, also in open sessions.",
    ],
  });
}

/** @param {HTMLElement} action */
function noTokens(action) {
  return firstStep({
    ...{ icon: "keys", title: "No tokens yet", actions: [action] },
    text: [
      "A token signs in to the console. It belongs to a user, or has roles of its own, for example for a wall screen.",
    ],
  });
}
