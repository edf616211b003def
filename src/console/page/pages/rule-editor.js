// Editor for rules: one card for each rule, validated by the server while typing, saved together.
import { ask } from "../client/api.js";
import { h, icon } from "../elements/dom.js";
import { icons } from "../elements/icons.js";
import { isAbort, note, noteFailure } from "../elements/notices.js";
import { createControl } from "./rule-control.js";

/** @import { ChangedDocument, FlawsDocument } from "../../wire-settings.ts" */
/** @import { Field, Rule } from "./rule-fields.js" */

/**
 * @typedef {object} EditorOptions
 * @property {string} bucket
 * @property {"lifecycle" | "cors" | "locks"} kind
 * @property {string} title
 * @property {string} [heading] default: the title
 * @property {string} about
 * @property {string} none text that is shown if there are no rules
 * @property {readonly unknown[]} rules
 * @property {string} seen mark of the loaded rules
 * @property {readonly Field[]} fields
 * @property {() => Rule} fresh
 * @property {AbortSignal} signal
 */

/** @typedef {ReturnType<typeof createCard>} Card */

const pauseMilliseconds = 200;
let count = 0;

/** @param {EditorOptions} options */
export function openEditor(options) {
  const { bucket, kind, title, heading = title, about, none, rules, fields, fresh, signal } = options;
  let { seen } = options;
  /** @type {Card[]} */
  let cards = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let checkTimer;
  const list = h("div", { class: "rules" });
  const statusText = h("p", { class: "quiet", role: "status" });
  const save = h(
    "button",
    { class: "primary", type: "submit", "aria-label": `Save ${title} rules`, disabled: true },
    "Save",
  );
  const add = h(
    "button",
    { type: "button", "aria-label": `Add rule to ${title}`, onclick: () => addRule(fresh()).focus() },
    icon(icons.add),
    "Add rule",
  );

  /** @param {Rule} rule */
  function addRule(rule, isChange = true) {
    const card = createCard({ rule, fields, changed, remove: () => removeCard(card) });
    cards.push(card);
    show();
    if (isChange) changed();
    return card;
  }

  /** @param {Card} card */
  function removeCard(card) {
    cards = cards.filter((one) => one !== card);
    show();
    changed();
    add.focus();
  }

  function show() {
    for (const [i, card] of cards.entries()) card.setTitle(`${title} rule ${i + 1}`);
    const isEmpty = cards.length === 0;
    list.replaceChildren(
      ...(isEmpty ? [h("p", { class: "quiet" }, none)] : cards.map(({ element }) => element)),
    );
  }

  function changed() {
    save.disabled = false;
    clearTimeout(checkTimer);
    checkTimer = setTimeout(
      () => void check().catch((error) => isAbort(error) || noteFailure(error)),
      pauseMilliseconds,
    );
  }

  const requestBody = () => ({ rules: cards.map(({ rule }) => rule()) });

  async function check() {
    /** @type {FlawsDocument} */
    const { flaws } = await ask("/api/rules/check", {
      method: "POST",
      query: { bucket, kind },
      json: requestBody(),
      signal,
    });
    for (const [i, card] of cards.entries()) card.showFlaws(flaws.filter(({ rule }) => rule === i));
    save.disabled = flaws.length > 0;
    const [first] = flaws.filter(({ rule }) => rule === undefined);
    statusText.textContent =
      flaws.length === 0 ? "Not saved yet." : (first?.message ?? "Fix the highlighted fields to save.");
    return flaws.length === 0;
  }

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    clearTimeout(checkTimer);
    if (!(await check())) return;
    /** @type {ChangedDocument} */
    const saved = await ask("/api/rules", {
      method: "PUT",
      query: { bucket, kind },
      json: { ...requestBody(), seen },
      signal,
    });
    seen = saved.seen;
    save.disabled = true;
    statusText.textContent = "";
    note(`Saved the ${title} rules of ${bucket}.`);
  }

  for (const rule of rules) addRule(/** @type {Rule} */ (rule), false);
  show();
  return h(
    "form",
    {
      class: "card editor",
      novalidate: true,
      "aria-label": heading,
      onsubmit: (/** @type {Event} */ event) => void submit(event).catch(noteFailure),
    },
    h("div", {}, h("h2", {}, heading), h("p", { class: "quiet" }, about)),
    list,
    h("div", { class: "actions" }, statusText, add, save),
  );
}

/**
 * @typedef {object} CardOptions
 * @property {Rule} rule
 * @property {readonly Field[]} fields
 * @property {() => void} changed
 * @property {() => void} remove
 */

/** @param {CardOptions} options */
function createCard({ rule, fields, changed, remove }) {
  const id = `rule-${++count}`;
  const controls = fields.map((field) =>
    createControl({ field, value: rule[field.name], id: `${id}-${field.name}`, changed }),
  );
  const legend = h("legend", {});
  const removal = h("button", { type: "button", onclick: remove }, "Remove");
  const errorText = h("p", { class: "error-text", role: "alert" });
  const grid = h("div", { class: "rule-grid" }, ...controls.map(({ element }) => element));
  const element = h(
    "fieldset",
    { class: "rule" },
    legend,
    grid,
    errorText,
    h("div", { class: "row-tools" }, removal),
  );
  return {
    element,
    /** @param {string} title */
    setTitle(title) {
      legend.textContent = title;
      removal.setAttribute("aria-label", `Remove ${title}`);
    },
    focus: () => controls[0]?.focus(),
    /** Fields without a control are sent back. @returns {Rule} */
    rule: () => ({ ...rule, ...Object.fromEntries(controls.map(({ name, value }) => [name, value()])) }),
    /** @param {readonly { field?: string | undefined, message: string }[]} flaws */
    showFlaws(flaws) {
      for (const { name, showError } of controls)
        showError(flaws.find(({ field }) => field === name)?.message);
      errorText.textContent = flaws.find(({ field }) => field === undefined)?.message ?? "";
    },
  };
}
