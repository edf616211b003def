// Badge of a version that is locked.
import { h } from "../elements/dom.js";
import { time } from "../elements/format.js";

/** @import { LockDocument } from "../../wire-types.ts" */

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
