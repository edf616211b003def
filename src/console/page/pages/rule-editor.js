// An editor of rules: a card for each, checked by the server while one types, saved all together.
import { ask } from "../api.js";
import { h, icon } from "../dom.js";
import { icons } from "../icons.js";
import { isAbort, note, noteFailure } from "../notices.js";
import { controlOf } from "./rule-control.js";

/** @import { FlawsDocument } from "../../wire-types.ts" */
/** @import { Field, Rule } from "./rule-fields.js" */

/**
 * @typedef {object} Editing
 * @property {string} bucket
 * @property {"lifecycle" | "cors"} kind
 * @property {string} title
 * @property {string} about
 * @property {string} none what holds without any rule
 * @property {readonly unknown[]} rules
 * @property {readonly Field[]} fields
 * @property {() => Rule} fresh
 * @property {AbortSignal} signal
 */

/** @typedef {ReturnType<typeof cardOf>} Card */

const pauseMilliseconds = 200;
let count = 0;

/** @param {Editing} editing */
export function openEditor({ bucket, kind, title, about, none, rules, fields, fresh, signal }) {
  /** @type {Card[]} */
  let cards = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pausing;
  const list = h("div", { class: "rules" });
  const told = h("p", { class: "quiet", role: "status" });
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
    const card = cardOf({ rule, fields, changed, remove: () => removeCard(card) });
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
    clearTimeout(pausing);
    pausing = setTimeout(
      () => void check().catch((error) => isAbort(error) || noteFailure(error)),
      pauseMilliseconds,
    );
  }

  const given = () => ({ rules: cards.map(({ rule }) => rule()) });

  async function check() {
    /** @type {FlawsDocument} */
    const { flaws } = await ask("/api/rules/check", {
      method: "POST",
      query: { kind },
      json: given(),
      signal,
    });
    for (const [i, card] of cards.entries()) card.tell(flaws.filter(({ rule }) => rule === i));
    save.disabled = flaws.length > 0;
    const [first] = flaws.filter(({ rule }) => rule === undefined);
    told.textContent =
      flaws.length === 0 ? "Not saved yet." : (first?.message ?? "Mend what is marked to save.");
    return flaws.length === 0;
  }

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    clearTimeout(pausing);
    if (!(await check())) return;
    await ask("/api/rules", { method: "PUT", query: { bucket, kind }, json: given(), signal });
    save.disabled = true;
    told.textContent = "";
    note(`Saved the ${title} rules of ${bucket}.`);
  }

  for (const rule of rules) addRule(/** @type {Rule} */ (rule), false);
  show();
  return h(
    "form",
    {
      class: "card editor",
      novalidate: true,
      "aria-label": title,
      onsubmit: (/** @type {Event} */ event) => void submit(event).catch(noteFailure),
    },
    h("div", {}, h("h2", {}, title), h("p", { class: "quiet" }, about)),
    list,
    h("div", { class: "actions" }, told, add, save),
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
function cardOf({ rule, fields, changed, remove }) {
  const id = `rule-${++count}`;
  const controls = fields.map((field) =>
    controlOf({ field, value: rule[field.name], id: `${id}-${field.name}`, changed }),
  );
  const legend = h("legend", {});
  const removal = h("button", { type: "button", onclick: remove }, "Remove");
  const told = h("p", { class: "error-text", role: "alert" });
  const grid = h("div", { class: "rule-grid" }, ...controls.map(({ element }) => element));
  const element = h(
    "fieldset",
    { class: "rule" },
    legend,
    grid,
    told,
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
    /** @returns {Rule} */
    rule: () => Object.fromEntries(controls.map(({ name, value }) => [name, value()])),
    /** @param {readonly { field?: string | undefined, message: string }[]} flaws */
    tell(flaws) {
      for (const { name, tell } of controls) tell(flaws.find(({ field }) => field === name)?.message);
      told.textContent = flaws.find(({ field }) => field === undefined)?.message ?? "";
    },
  };
}
