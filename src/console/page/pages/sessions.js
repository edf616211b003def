// Page of sessions: who is signed in, since when and from where; ends sessions.
import { ask } from "../client/api.js";
import { describeRoles, may } from "../client/permissions.js";
import { openForm } from "../elements/dialog.js";
import { h } from "../elements/dom.js";
import { time } from "../elements/format.js";
import { note } from "../elements/notices.js";
import { table, tableRow } from "../elements/table.js";
import { settingsTabs } from "../frame/settings-tabs.js";

/** @import { SessionRow, SessionsDocument } from "../../wire-session.ts" */
/** @import { Column } from "../elements/table.js" */
/** @import { View } from "../frame/pages.js" */

/** @type {readonly Column[]} */
const columns = [
  { name: "User" },
  { name: "Roles" },
  { name: "Signed in", kind: "when" },
  { name: "Expires", kind: "when" },
  { name: "Address" },
  { name: "Signed in with" },
];

/** @param {View} view */
export async function render({ signal }) {
  const list = h("div", {});

  async function refresh() {
    /** @type {SessionsDocument} */
    const { sessions } = await ask("/api/sessions", { signal });
    const rows = sessions.map((session) => sessionRow(session, refresh));
    list.replaceChildren(table({ label: "Sessions", columns, rows, hasTools: true }));
  }

  await refresh();
  return h(
    "div",
    {},
    h("div", { class: "page-head" }, h("h1", {}, "Settings")),
    settingsTabs("sessions"),
    h(
      "p",
      { class: "quiet lead" },
      may("administer") ? "Everybody who is signed in to the console." : "Where you are signed in.",
    ),
    list,
  );
}

/**
 * @param {SessionRow} session
 * @param {() => Promise<void>} refresh
 */
function sessionRow(session, refresh) {
  const { id, name, role, buckets, created, expires, address, provider, isCurrent } = session;
  const badge = isCurrent ? h("span", { class: "badge good" }, "this session") : undefined;
  const end = h(
    "button",
    {
      ...{ class: "small danger-plain", type: "button", "aria-label": `End session ${id} of ${name}` },
      onclick: () => openEnd(session, refresh),
    },
    "End",
  );
  return tableRow(
    columns,
    [
      [name, badge && " ", badge],
      describeRoles(role, buckets),
      created === null ? "unknown" : time(created),
      time(expires),
      address ?? "unknown",
      provider ?? "token",
    ],
    end,
  );
}

/**
 * @param {SessionRow} session
 * @param {() => Promise<void>} refresh
 */
function openEnd({ id, name, isCurrent }, refresh) {
  openForm({
    title: isCurrent ? "End this session?" : `End the session of ${name}?`,
    submit: "End session",
    danger: true,
    content: [
      h(
        "p",
        {},
        isCurrent
          ? "You are signed out of this browser."
          : "The user can sign in again, unless the token is revoked or the user is deleted.",
      ),
    ],
    async run() {
      await ask("/api/sessions", { method: "DELETE", query: { id } });
      note(`Ended the session of ${name}.`);
      await refresh();
    },
  });
}
