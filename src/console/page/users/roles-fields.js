// Inputs for roles: one on the whole store, and one for each bucket that is added.
import { h, icon } from "../elements/dom.js";
import { icons } from "../elements/icons.js";

/** @import { Role } from "../../auth/roles.ts" */

/** @type {Readonly<Record<Role, string>>} */
const roleTexts = {
  viewer: "Viewer: lists and reads",
  editor: "Editor: also changes objects",
  administrator: "Administrator: everything",
};

/**
 * @param {object} options
 * @param {readonly string[]} options.buckets that can be chosen
 * @param {Role | null} options.role
 * @param {Readonly<Record<string, Role>>} options.own roles by bucket
 */
export function createRolesFields({ buckets, role, own }) {
  const whole = roleSelect(role ?? "", "none: only the buckets below");
  whole.id = "role-whole";
  const rows = h("div", { class: "pairs" });
  /** @type {{ bucket: HTMLSelectElement, given: HTMLSelectElement, row: HTMLElement }[]} */
  const all = [];

  /**
   * @param {string} bucket
   * @param {Role} given
   */
  function add(bucket, given) {
    const names = buckets.includes(bucket) || bucket === "" ? buckets : [bucket, ...buckets];
    const chosen = h(
      "select",
      { "aria-label": "Bucket" },
      ...names.map((name) => h("option", { value: name, selected: name === bucket }, name)),
    );
    const select = roleSelect(given);
    for (const option of select.options) option.textContent = option.value;
    select.setAttribute("aria-label", "Role on the bucket");
    const remove = h(
      "button",
      { class: "tool", type: "button", "aria-label": "Remove this role" },
      icon(icons.close),
    );
    const entry = {
      bucket: chosen,
      given: select,
      row: h("div", { class: "pair equal" }, chosen, select, remove),
    };
    remove.addEventListener("click", () => {
      all.splice(all.indexOf(entry), 1);
      entry.row.remove();
      addButton.focus();
    });
    all.push(entry);
    rows.append(entry.row);
    return chosen;
  }
  const addButton = h(
    "button",
    { class: "small own-width", type: "button", onclick: () => add(buckets[0] ?? "", "viewer").focus() },
    icon(icons.add),
    "Add a role on a bucket",
  );
  addButton.disabled = buckets.length === 0;
  for (const [bucket, given] of Object.entries(own)) add(bucket, given);
  const element = h(
    "div",
    { class: "field" },
    h("label", { for: "role-whole" }, "Role on the whole store"),
    whole,
    rows,
    addButton,
  );
  return {
    element,
    /** The fields of a request. */
    json() {
      const chosen = Object.fromEntries(all.map(({ bucket, given }) => [bucket.value, given.value]));
      return { role: whole.value || undefined, buckets: chosen };
    },
  };
}

/**
 * @param {string} chosen
 * @param {string} [none]
 */
function roleSelect(chosen, none) {
  return h(
    "select",
    {},
    none === undefined ? undefined : h("option", { value: "", selected: chosen === "" }, none),
    ...Object.entries(roleTexts).map(([role, text]) =>
      h("option", { value: role, selected: role === chosen }, text),
    ),
  );
}
