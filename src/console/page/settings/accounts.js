// Card of the accounts: what their buckets contain, and their quotas.
import { ask } from "../client/api.js";
import { openForm } from "../elements/dialog.js";
import { h } from "../elements/dom.js";
import { bytes, number } from "../elements/format.js";
import { note } from "../elements/notices.js";
import { table, tableRow } from "../elements/table.js";
import { quotaFields } from "./quota.js";

/** @import { AccountRow, AccountsDocument } from "../../wire-administration.ts" */
/** @import { Column } from "../elements/table.js" */

/** @type {readonly Column[]} */
const columns = [
  { name: "Account" },
  { name: "Buckets", kind: "number" },
  { name: "Size", kind: "number" },
  { name: "Objects", kind: "number" },
];

/** @param {AbortSignal} signal */
export async function accountsSection(signal) {
  const content = h("div", {});

  async function refresh() {
    /** @type {AccountsDocument} */
    const { accounts } = await ask("/api/accounts", { signal });
    const rows = accounts.map((row) => accountRow(row, refresh));
    content.replaceChildren(
      rows.length === 0
        ? h("p", { class: "quiet" }, "An account exists as soon as a bucket belongs to it.")
        : table({ label: "Accounts", columns, rows, hasTools: true }),
    );
  }

  await refresh();
  return h("section", { class: "stack", "aria-label": "Accounts" }, h("h2", {}, "Accounts"), content);
}

/**
 * @param {AccountRow} row
 * @param {() => Promise<void>} refresh
 */
function accountRow({ account, buckets, quota, usage }, refresh) {
  const edit = h(
    "button",
    {
      ...{ type: "button", class: "small", "aria-label": `Quota of ${account}` },
      onclick: () => openQuota(account, quota, refresh),
    },
    "Quota…",
  );
  return tableRow(
    columns,
    [
      account,
      number(buckets),
      bytes(usage.bytes) + (quota?.bytes === undefined ? "" : ` of ${bytes(quota.bytes)}`),
      number(usage.objects) + (quota?.objects === undefined ? "" : ` of ${number(quota.objects)}`),
    ],
    edit,
  );
}

/**
 * @param {string} account
 * @param {AccountRow["quota"]} quota
 * @param {() => Promise<void>} refresh
 */
function openQuota(account, quota, refresh) {
  const fields = quotaFields(quota);
  openForm({
    title: `Quota of ${account}`,
    submit: "Save",
    content: [
      h(
        "p",
        { class: "quiet" },
        "The maximum of what all buckets of the account may contain, with all versions. ",
        "Empty fields set no limit.",
      ),
      ...fields.elements,
    ],
    async run() {
      await ask("/api/accounts/quota", { method: "PUT", json: { account, quota: fields.value() } });
      note(`Saved the quota of ${account}.`);
      await refresh();
    },
  });
}
