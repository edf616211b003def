// Page of sessions: who is signed in, since when and from where; ends sessions.
import { ask } from "../client/api.js";
import { describeRoles, may } from "../client/permissions.js";
import { openForm } from "../elements/dialog.js";
import { h } from "../elements/dom.js";
import { time } from "../elements/format.js";
import { note } from "../elements/notices.js";

/** @import { SessionRow, SessionsDocument } from "../../wire-session.ts" */
/** @import { View } from "../frame/pages.js" */

/** @param {View} view */
export async function render({ signal }) {
  const rows = h("tbody", {});

  async function refresh() {
    /** @type {SessionsDocument} */
    const { sessions } = await ask("/api/sessions", { signal });
    rows.replaceChildren(...sessions.map((session) => sessionRow(session, refresh)));
  }

  await refresh();
  const names = ["User", "Roles", "Signed in", "Expires", "Address", "Signed in with"];
  return h(
    "div",
    {},
    h("div", { class: "page-head" }, h("h1", {}, "Sessions")),
    h(
      "p",
      { class: "quiet lead" },
      may("administer") ? "Everybody who is signed in to the console." : "Where you are signed in.",
    ),
    h(
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
        rows,
      ),
    ),
  );
}

/**
 * @param {SessionRow} session
 * @param {() => Promise<void>} refresh
 */
function sessionRow(session, refresh) {
  const { id, name, role, buckets, created, expires, address, provider, isCurrent } = session;
  const badge = isCurrent ? h("span", { class: "badge active" }, "this session") : undefined;
  const end = h(
    "button",
    {
      type: "button",
      "aria-label": `End session ${id} of ${name}`,
      onclick: () => openEnd(session, refresh),
    },
    "End",
  );
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, name, badge && [" ", badge]),
    h("td", { "data-name": "Roles" }, describeRoles(role, buckets)),
    h("td", { "data-name": "Signed in" }, created === null ? "unknown" : time(created)),
    h("td", { "data-name": "Expires" }, time(expires)),
    h("td", { "data-name": "Address" }, address ?? "unknown"),
    h("td", { "data-name": "Signed in with" }, provider ?? "token"),
    h("td", {}, h("div", { class: "row-tools" }, end)),
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
