// Tab Access: who and what reaches the bucket: the public, policy statements, keys, users and tokens,
// and share links, which can be revoked here.
import { ask } from "../client/api.js";
import { may } from "../client/permissions.js";
import { pageHref } from "../client/router.js";
import { openForm } from "../elements/dialog.js";
import { h } from "../elements/dom.js";
import { ago, duration, time } from "../elements/format.js";
import { menuButton } from "../elements/menu.js";
import { note, noteFailure } from "../elements/notices.js";
import { table, tableRow } from "../elements/table.js";
import { maskControls } from "../objects/row.js";

/** @import { AccessDocument, ShareDocument, SharesDocument, StatementDocument } from "../../wire-bucket.ts" */
/** @import { Column } from "../elements/table.js" */
/** @import { TabContent, TabView } from "../pages/bucket.js" */

/**
 * @param {TabView} view
 * @returns {Promise<TabContent>}
 */
export async function renderTab({ bucket, signal }) {
  const query = { bucket };
  /** @type {AccessDocument} */
  const access = await ask("/api/bucket/access", { query, signal });
  const shares = h("div", {});
  const refresh = async () => {
    /** @type {SharesDocument} */
    const document = await ask("/api/shares", { query, signal });
    shares.replaceChildren(shareCard(bucket, document.shares, refresh));
  };
  await refresh();
  const element = h(
    "div",
    { class: "stack" },
    publicCard(bucket, access),
    shares,
    statementCard(bucket, access.statements),
    ...(access.keys === null || access.users === null
      ? [
          h(
            "p",
            { class: "notice", role: "note" },
            "Administrators of the store also see keys and users here.",
          ),
        ]
      : [keyCard(access.keys), userCard(access.users)]),
  );
  return { element };
}

/**
 * @param {string} title
 * @param {string} about
 * @param {...(Node | undefined)} content
 */
function card(title, about, ...content) {
  return h(
    "section",
    { class: "card", "aria-label": title },
    h("div", { class: "card-head" }, h("h2", {}, title), h("p", { class: "quiet small-text" }, about)),
    ...content,
  );
}

/** @param {string} text */
function none(text) {
  return h("div", { class: "card-body" }, h("p", { class: "quiet" }, text));
}

/**
 * @param {string} bucket
 * @param {AccessDocument} access
 */
function publicCard(bucket, { publication, isPolicyPublic }) {
  const settings = h(
    "a",
    { class: "button small own-width", href: pageHref("bucket", { bucket, tab: "settings" }) },
    "Change in the settings",
  );
  const facts = [
    h("dt", {}, "Publication"),
    h(
      "dd",
      {},
      publication === null
        ? h("span", { class: "badge" }, "Not published")
        : h("span", { class: "badge public" }, "Anyone can read all objects"),
      publication === null || publication.url === null
        ? undefined
        : [" ", h("a", { href: publication.url, target: "_blank", rel: "noreferrer" }, publication.url)],
      publication === null || publication.domains.length === 0
        ? undefined
        : h("p", { class: "quiet" }, `Domains: ${publication.domains.join(", ")}`),
    ),
    h("dt", {}, "Policy"),
    h(
      "dd",
      {},
      isPolicyPublic
        ? h("span", { class: "badge public" }, "Allows something to everyone")
        : h("span", { class: "badge" }, "Allows nothing to everyone"),
    ),
  ];
  return card(
    "Public access",
    "Without a key",
    h("div", { class: "card-body" }, h("dl", { class: "facts" }, ...facts), settings),
  );
}

/** @type {readonly Column[]} */
const shareColumns = [
  { name: "Object", kind: "mono" },
  { name: "Created" },
  { name: "By" },
  { name: "Expires" },
];

/**
 * @param {string} bucket
 * @param {readonly ShareDocument[]} shares
 * @param {() => Promise<void>} refresh
 */
function shareCard(bucket, shares, refresh) {
  const about = "Anyone with a link can download its object";
  if (shares.length === 0)
    return card("Share links", about, none("No links. Create one in the menu of an object: Share…"));
  const rows = shares.map((share) =>
    tableRow(
      shareColumns,
      [
        h("a", { href: pageHref("object", { bucket, key: share.key }) }, maskControls(share.key)),
        h("span", { title: time(share.created) }, ago(share.created)),
        share.by,
        h("span", { title: time(share.expires) }, `in ${duration(share.expires - Date.now())}`),
      ],
      may("edit", bucket) &&
        menuButton({
          label: `Actions for the link to ${share.key}`,
          items: [
            { label: "Revoke…", icon: "remove", danger: true, run: () => openRevoke(bucket, share, refresh) },
          ],
        }),
    ),
  );
  const list = table({ label: "Share links", columns: shareColumns, rows, hasTools: true });
  list.classList.remove("card");
  return card("Share links", about, list);
}

/**
 * @param {string} bucket
 * @param {ShareDocument} share
 * @param {() => Promise<void>} refresh
 */
function openRevoke(bucket, { id, key }, refresh) {
  openForm({
    title: "Revoke this link?",
    submit: "Revoke link",
    danger: true,
    content: [
      h("p", { class: "mono" }, maskControls(key)),
      h("p", {}, "The link stops working at once, for everyone."),
    ],
    async run() {
      await ask("/api/shares", { method: "DELETE", query: { bucket, id } });
      note("Revoked the link.");
      void refresh().catch(noteFailure);
    },
  });
}

/** @type {readonly Column[]} */
const statementColumns = [
  { name: "Effect" },
  { name: "Who" },
  { name: "Actions" },
  { name: "Resources" },
  { name: "Conditions", kind: "number" },
];

/**
 * @param {string} bucket
 * @param {readonly StatementDocument[]} statements
 */
function statementCard(bucket, statements) {
  if (statements.length === 0)
    return card("Policy", bucket, none("No policy: only keys of the account reach the bucket."));
  const rows = statements.map(({ effect, principals, actions, resources, conditions }) =>
    tableRow(statementColumns, [
      h("span", { class: effect === "Allow" ? "badge good" : "badge failed" }, effect),
      principals.join(", "),
      actions.join(", "),
      h("span", { class: "mono break" }, resources.join(", ")),
      conditions,
    ]),
  );
  const list = table({ label: "Statements of the policy", columns: statementColumns, rows });
  list.classList.remove("card");
  return card("Policy", bucket, list);
}

/** @type {readonly Column[]} */
const keyColumns = [
  { name: "Key" },
  { name: "Id", kind: "mono" },
  { name: "State" },
  { name: "Permissions" },
];

/** @param {NonNullable<AccessDocument["keys"]>} keys */
function keyCard(keys) {
  const about = "For S3 clients";
  if (keys.length === 0) return card("Access keys", about, none("No key reaches this bucket."));
  const rows = keys.map(({ accessKeyId, name, state, rights }) =>
    tableRow(keyColumns, [
      name ?? "Without a name",
      accessKeyId,
      h("span", { class: `badge ${state}` }, state),
      rights === null ? "Full access to the account" : rights.join(", "),
    ]),
  );
  const list = table({ label: "Access keys", columns: keyColumns, rows });
  list.classList.remove("card");
  return card("Access keys", about, list);
}

/** @type {readonly Column[]} */
const userColumns = [{ name: "Name" }, { name: "Kind" }, { name: "Role" }];

/** @param {NonNullable<AccessDocument["users"]>} users */
function userCard(users) {
  const about = "For this console";
  if (users.length === 0)
    return card("Users and tokens", about, none("No user or token has a role on this bucket."));
  const rows = users.map(({ kind, name, role }) =>
    tableRow(userColumns, [name, kind === "user" ? "User" : "Token", role]),
  );
  const list = table({ label: "Users and tokens", columns: userColumns, rows });
  list.classList.remove("card");
  return card("Users and tokens", about, list);
}
