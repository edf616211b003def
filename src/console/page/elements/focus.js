// Keeps the focus when a part of the page is drawn again.

/**
 * Moves the focus back to an element, or to its successor with the same name if it was drawn again.
 * Otherwise a user of the keyboard would begin at the top of the page.
 *
 * @param {Element | null} previous
 */
export function focusAgain(previous) {
  if (!(previous instanceof HTMLElement)) return;
  if (previous.isConnected) {
    previous.focus();
    return;
  }
  const name = previous.getAttribute("aria-label");
  const successor = name === null ? null : document.querySelector(`main [aria-label="${CSS.escape(name)}"]`);
  /** @type {HTMLElement | null} */ (successor ?? document.getElementById("main"))?.focus();
}
