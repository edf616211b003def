// Locks of objects: the badge of a locked version, and the form for retention and legal hold.
import { ask } from "../client/api.js";
import { openForm } from "../elements/dialog.js";
import { h } from "../elements/dom.js";
import { localText, time } from "../elements/format.js";
import { note } from "../elements/notices.js";

/** @import { LockDocument, ObjectDocument, ObjectLockDocument } from "../../wire-types.ts" */

const modes = { none: "None", governance: "Governance", compliance: "Compliance" };
const monthMilliseconds = 30 * 86_400_000;

/**
 * @param {LockDocument | undefined} lock
 * @param {"short" | "with end"} [length]
 */
export function lockBadge(lock, length = "short") {
  if (lock === undefined) return undefined;
  const end = lock.until === null ? "" : ` until ${time(lock.until)}`;
  return h(
    "span",
    { class: "badge locked", title: lock.message },
    length === "short" ? "Locked" : `Locked${end}`,
  );
}

/** @param {ObjectLockDocument} lock */
export function lockFacts({ retention, isOnHold }) {
  const kept = retention === null ? "None" : `${retention.mode}, until ${time(retention.until)}`;
  return /** @type {[string, string][]} */ ([
    ["Retention", kept],
    ["Legal hold", isOnHold ? "On" : "Off"],
  ]);
}

/**
 * @param {string} bucket
 * @param {ObjectDocument & { objectLock: ObjectLockDocument }} object
 * @param {() => void} done
 */
export function openLockForm(bucket, { key, version, objectLock: { retention, isOnHold } }, done) {
  const mode = h(
    "select",
    { id: "lock-mode" },
    ...Object.entries(modes).map(([value, name]) => h("option", { value }, name)),
  );
  mode.value = retention?.mode ?? "none";
  const shown = localText(retention?.until ?? Date.now() + monthMilliseconds);
  const until = h("input", { id: "lock-until", type: "datetime-local", step: 1, value: shown });
  const untilField = h("div", { class: "field" }, h("label", { for: "lock-until" }, "Until"), until);
  const hold = h("input", { type: "checkbox", checked: isOnHold });
  const bypass = h("input", { type: "checkbox" });
  const needsBypass = retention?.mode === "governance" && retention.until > Date.now();
  const update = () => {
    untilField.hidden = mode.value === "none";
    until.required = mode.value !== "none";
  };
  mode.addEventListener("change", update);
  update();

  /** Undefined if the retention stays as it is. */
  function changedRetention() {
    if (mode.value === (retention?.mode ?? "none") && (retention === null || until.value === shown))
      return undefined;
    return {
      to: mode.value === "none" ? null : { mode: mode.value, until: new Date(until.value).getTime() },
    };
  }

  openForm({
    title: "Lock of the object",
    submit: "Save",
    content: [
      h(
        "p",
        { class: "quiet" },
        "A locked version cannot be deleted. Administrators can end a governance retention early; ",
        "a compliance retention can only be extended.",
      ),
      h("div", { class: "field" }, h("label", { for: "lock-mode" }, "Retention"), mode),
      untilField,
      ...(needsBypass
        ? [h("label", { class: "choice" }, bypass, "Shorten or end the governance retention")]
        : []),
      h("label", { class: "choice" }, hold, "Legal hold, until it is removed"),
    ],
    async run() {
      const target = { bucket, key, version };
      const changed = changedRetention();
      if (changed !== undefined)
        await ask("/api/object/retention", {
          method: "PUT",
          json: { ...target, retention: changed.to, bypassGovernance: bypass.checked },
        });
      if (hold.checked !== isOnHold)
        await ask("/api/object/legal-hold", { method: "PUT", json: { ...target, isOnHold: hold.checked } });
      note("Saved the lock.");
      done();
    },
  });
}
