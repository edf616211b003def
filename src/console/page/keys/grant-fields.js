// Inputs for the grants of a key: each row is a bucket, a part of its keys, and rights.
import { h, icon } from "../elements/dom.js";
import { icons } from "../elements/icons.js";

/** What a user is likely to want, besides choosing single rights. */
const presets = {
  "read,list": "Read and list",
  "read,write,list": "Read, write and list",
  "read,write,list,delete": "Read, write, list and delete",
  append: "Only add new objects",
  admin: "Everything",
  custom: "Chosen rights…",
};
const allRights = ["read", "write", "append", "list", "delete", "admin"];

let rows = 0;

/** @param {readonly string[]} buckets */
export function createGrantFields(buckets) {
  const list = h("div", { class: "stack" });
  /** @type {{ text: () => string, element: HTMLElement }[]} */
  const all = [];

  function add() {
    const entry = grantRow(buckets, () => {
      all.splice(all.indexOf(entry), 1);
      entry.element.remove();
      addButton.focus();
    });
    all.push(entry);
    list.append(entry.element);
    return entry;
  }

  const addButton = h(
    "button",
    { class: "small own-width", type: "button", onclick: () => add().focus() },
    icon(icons.add),
    "Add another permission",
  );
  const first = add();
  return {
    element: h("div", { class: "stack" }, list, addButton),
    focus: () => first.focus(),
    /** Grants in the format of the command line: `photos/2026/*:read,list`. */
    texts: () => all.map(({ text }) => text()),
  };
}

/**
 * @param {readonly string[]} buckets
 * @param {() => void} onRemove
 */
function grantRow(buckets, onRemove) {
  const id = `grant-${++rows}`;
  const bucket = h(
    "select",
    { id: `${id}-bucket` },
    ...buckets.map((name) => h("option", { value: name }, name)),
    h("option", { value: "*" }, "every bucket of the account"),
  );
  const prefix = h("input", {
    ...{ id: `${id}-prefix`, autocomplete: "off", spellcheck: "false", placeholder: "all keys" },
    "aria-describedby": `${id}-help`,
  });
  const rights = h(
    "select",
    { id: `${id}-rights` },
    ...Object.entries(presets).map(([value, name]) => h("option", { value }, name)),
  );
  const boxes = allRights.map((right) => h("input", { type: "checkbox", value: right }));
  const custom = h(
    "div",
    { class: "choices", role: "group", "aria-label": "Rights" },
    ...boxes.map((box) => h("label", { class: "choice" }, box, box.value)),
  );
  custom.hidden = true;
  rights.addEventListener("change", () => {
    custom.hidden = rights.value !== "custom";
  });
  const chosen = () =>
    rights.value === "custom"
      ? boxes
          .filter(({ checked }) => checked)
          .map(({ value }) => value)
          .join(",")
      : rights.value;
  const element = h(
    "fieldset",
    { class: "grant" },
    h("legend", { class: "unseen" }, "Permission"),
    h(
      "div",
      { class: "fields" },
      field(bucket, "Bucket"),
      field(prefix, "Key prefix"),
      field(rights, "Rights"),
    ),
    custom,
    h(
      "div",
      { class: "grant-foot" },
      h(
        "p",
        { id: `${id}-help`, class: "quiet small-text" },
        "Only keys that begin with the prefix, such as 2026/. Empty: all keys.",
      ),
      h(
        "button",
        {
          ...{ class: "small bare", type: "button", onclick: onRemove },
          "aria-label": "Remove this permission",
        },
        "Remove",
      ),
    ),
  );
  return {
    element,
    focus: () => bucket.focus(),
    text: () => `${bucket.value}${prefix.value === "" ? "" : `/${prefix.value}*`}:${chosen()}`,
  };
}

/**
 * @param {HTMLInputElement | HTMLSelectElement} control
 * @param {string} label
 */
function field(control, label) {
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control);
}
