// A popup menu behind a button: for actions that are rare, or dangerous. Arrow keys move, Escape
// closes, and the browser closes it when the user clicks elsewhere.
import { h, icon } from "./dom.js";
import { icons } from "./icons.js";

/**
 * @typedef {object} MenuItem
 * @property {string} label
 * @property {keyof typeof icons} [icon]
 * @property {() => void} [run]
 * @property {string} [href] a link instead of an action
 * @property {boolean} [danger]
 * @property {string} [disabled] why the action is not possible now
 */

/**
 * @typedef {object} MenuOptions
 * @property {string} label accessible name of the button
 * @property {(MenuItem | "line" | undefined | false)[]} items dangerous ones last, after a line
 * @property {(Node | string)[]} [content] of the button; default: three dots
 * @property {string} [buttonClass]
 * @property {Node} [head] above the items
 */

let menus = 0;

/** @param {MenuOptions} options */
export function menuButton({ label, items, content, buttonClass = "tool", head }) {
  const id = `menu-${++menus}`;
  const button = h(
    "button",
    {
      class: buttonClass,
      type: "button",
      "aria-haspopup": "menu",
      "aria-expanded": "false",
      ...(content === undefined ? { "aria-label": label, title: label } : { "aria-label": label }),
      onclick: () => open(),
    },
    ...(content ?? [icon(icons.more)]),
  );

  function open() {
    const menu = h(
      "div",
      { id, class: "menu", popover: "auto" },
      head,
      h("div", { role: "menu", "aria-label": label }, ...items.map((item) => itemElement(item, close))),
    );
    function close() {
      menu.hidePopover();
      button.focus();
    }
    menu.addEventListener("toggle", (event) => {
      if (/** @type {ToggleEvent} */ (event).newState === "open") return;
      button.setAttribute("aria-expanded", "false");
      // The focus goes back only if it was in the menu, not if the user clicked elsewhere.
      const hadFocus = menu.contains(document.activeElement) || document.activeElement === document.body;
      menu.remove();
      if (hadFocus) button.focus();
    });
    menu.addEventListener("keydown", (event) => moveFocus(menu, event));
    // Beside the button, so that a menu of a dialog is in the dialog.
    button.after(menu);
    menu.showPopover();
    align(menu, button);
    button.setAttribute("aria-expanded", "true");
    enabledItems(menu)[0]?.focus();
  }
  return button;
}

/**
 * @param {MenuItem | "line" | undefined | false} item
 * @param {() => void} close
 */
function itemElement(item, close) {
  if (!item) return undefined;
  if (item === "line") return h("hr", {});
  const { label, icon: name, run, href, danger, disabled } = item;
  const props = { role: "menuitem", tabindex: -1, class: danger ? "danger-plain" : undefined };
  const content = [name === undefined ? undefined : icon(icons[name]), label];
  if (href !== undefined) return h("a", { ...props, href, onclick: close }, ...content);
  return h(
    "button",
    {
      ...{ ...props, type: "button", disabled: disabled !== undefined, title: disabled },
      onclick() {
        close();
        run?.();
      },
    },
    ...content,
  );
}

/** @param {HTMLElement} menu */
function enabledItems(menu) {
  return [
    .../** @type {NodeListOf<HTMLElement>} */ (menu.querySelectorAll('[role="menuitem"]:not(:disabled)')),
  ];
}

/**
 * @param {HTMLElement} menu
 * @param {KeyboardEvent} event
 */
function moveFocus(menu, event) {
  const all = enabledItems(menu);
  const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  /** @type {Record<string, number>} */
  const targets = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 };
  const target = targets[event.key];
  if (event.key === "Tab") menu.hidePopover();
  if (target === undefined || all.length === 0) return;
  event.preventDefault();
  all[target % all.length]?.focus();
}

/**
 * Below the button and aligned to its right edge; above if there is more space.
 *
 * @param {HTMLElement} menu
 * @param {HTMLElement} button
 */
function align(menu, button) {
  const gap = 4;
  const from = button.getBoundingClientRect();
  const { width, height } = menu.getBoundingClientRect();
  const left = Math.max(gap * 2, Math.min(from.right - width, innerWidth - width - gap * 2));
  const isBelow = from.bottom + gap + height <= innerHeight || from.top < height + gap;
  menu.style.left = `${left}px`;
  menu.style.top = `${isBelow ? from.bottom + gap : from.top - gap - height}px`;
}
