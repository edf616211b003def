// Verifies the hash chain of the audit log and shows the result.
import { ask } from "../client/api.js";
import { copyField } from "../elements/copy-field.js";
import { openDialog } from "../elements/dialog.js";
import { h } from "../elements/dom.js";
import { counted } from "../elements/format.js";
import { errorMessages } from "../elements/notices.js";

/** @import { ChainDocument } from "../../wire-administration.ts" */

/** @param {AbortSignal} signal */
export function verifyChain(signal) {
  const result = h("div", { class: "stack", role: "status" }, "Reading the whole log…");
  /** @type {HTMLDialogElement} */
  const dialog = openDialog(
    h(
      "div",
      {},
      h("h2", { id: "dialog-title" }, "Verify the audit log"),
      result,
      h(
        "div",
        { class: "actions" },
        h("button", { class: "primary", type: "button", onclick: () => dialog.close() }, "Close"),
      ),
    ),
  );
  ask("/api/audit/verify", { method: "POST", json: {}, signal }).then(
    (report) => result.replaceChildren(...reportNodes(/** @type {ChainDocument} */ (report))),
    (error) => result.replaceChildren(h("p", { class: "error-text" }, errorMessages(error).join(" "))),
  );
}

/** @param {ChainDocument} report */
function reportNodes({ isWhole, entries, head, breaks, breakCount }) {
  if (!isWhole) {
    return [
      h(
        "p",
        {},
        h("span", { class: "badge failed" }, "broken"),
        ` ${counted(breakCount, "finding")} in the chain.`,
      ),
      h("ul", { class: "names" }, ...breaks.map((message) => h("li", {}, message))),
    ];
  }
  return [
    h(
      "p",
      {},
      h("span", { class: "badge good" }, "whole"),
      ` No entry was changed, removed or inserted: ${counted(entries, "entry", "entries")}.`,
    ),
    ...(head === null
      ? []
      : [
          h("p", { class: "quiet" }, "Note the hash elsewhere: with it, entries cut off the end show too."),
          copyField("Hash of the last entry", head),
        ]),
  ];
}
