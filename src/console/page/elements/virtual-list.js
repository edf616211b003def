// A list of any length that only renders visible rows and loads more near its end. For the keyboard
// it is one grid: arrows move, Space selects, Enter opens.
import { h } from "./dom.js";

/**
 * @typedef {object} ListOptions
 * @property {string} label
 * @property {(index: number) => HTMLElement} drawRow creates a row with its cells
 * @property {(index: number) => void} onOpen
 * @property {(index: number, range: boolean) => void} onToggle `range`: from the last toggled row
 * @property {() => void} onToggleAll
 * @property {() => void} onNearEnd
 * @property {() => "rows" | "tiles"} [layout]
 */

/** Rows rendered beyond the visible area, on both sides. */
const margin = 8;
const narrow = matchMedia("(max-width: 720px)");
const tileHeight = 184;
const minTileWidth = 156;

let lists = 0;

/** @param {ListOptions} options */
export function virtualList(options) {
  const { label, drawRow, onOpen, onToggle, onToggleAll, onNearEnd, layout = () => "rows" } = options;
  const id = `list-${++lists}`;
  let count = 0;
  let active = 0;
  const body = h("div", { class: "list-body", role: "presentation" });
  const grid = h(
    "div",
    {
      class: "list",
      role: "grid",
      tabindex: 0,
      "aria-label": label,
      "aria-multiselectable": "true",
      "aria-rowcount": -1,
    },
    body,
  );

  const isTiles = () => layout() === "tiles";
  const rowHeight = () => (isTiles() ? tileHeight : narrow.matches ? 54 : 40);
  const columns = () => (isTiles() ? Math.max(2, Math.floor(body.clientWidth / minTileWidth)) : 1);

  function draw() {
    const height = rowHeight();
    const perLine = columns();
    const beyond = isTiles() ? 2 : margin;
    const firstLine = Math.max(0, Math.floor(grid.scrollTop / height) - beyond);
    const lastLine = Math.ceil((grid.scrollTop + grid.clientHeight) / height) + beyond;
    const first = firstLine * perLine;
    const last = Math.min(count, lastLine * perLine);
    body.style.height = `${Math.ceil(count / perLine) * height}px`;
    /** @type {HTMLElement[]} */
    const rows = [];
    for (let i = first; i < last; i++) {
      const row = drawRow(i);
      row.id = `${id}-${i}`;
      row.setAttribute("aria-rowindex", String(i + 1));
      row.style.transform = `translate(${(i % perLine) * 100}%, ${Math.floor(i / perLine) * height}px)`;
      if (isTiles()) row.style.width = `${100 / perLine}%`;
      if (i === active) row.classList.add("active");
      row.addEventListener("mousedown", () => setActive(i));
      rows.push(row);
    }
    body.replaceChildren(...rows);
    grid.parentElement?.style.setProperty("--scroll-bar", `${grid.offsetWidth - grid.clientWidth}px`);
    if (active >= first && active < last) grid.setAttribute("aria-activedescendant", `${id}-${active}`);
    else grid.removeAttribute("aria-activedescendant");
    if (last > count - 2 * margin * perLine) onNearEnd();
  }

  /** @param {number} index */
  function setActive(index) {
    body.querySelector(".active")?.classList.remove("active");
    active = index;
    document.getElementById(`${id}-${active}`)?.classList.add("active");
    grid.setAttribute("aria-activedescendant", `${id}-${active}`);
  }

  /** @param {number} index */
  function moveTo(index) {
    active = Math.max(0, Math.min(count - 1, index));
    const height = rowHeight();
    const top = Math.floor(active / columns()) * height;
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top + height > grid.scrollTop + grid.clientHeight)
      grid.scrollTop = top + height - grid.clientHeight;
    draw();
  }

  const visibleRows = () => columns() * Math.max(1, Math.floor(grid.clientHeight / rowHeight()) - 1);
  /** @type {Record<string, (event: KeyboardEvent) => void>} */
  const keys = {
    ArrowDown: (event) => step(columns(), event.shiftKey),
    ArrowUp: (event) => step(-columns(), event.shiftKey),
    ArrowRight: (event) => isTiles() && step(1, event.shiftKey),
    ArrowLeft: (event) => isTiles() && step(-1, event.shiftKey),
    ContextMenu: () => openMenu(),
    F10: (event) => event.shiftKey && openMenu(),
    PageDown: () => moveTo(active + visibleRows()),
    PageUp: () => moveTo(active - visibleRows()),
    Home: () => moveTo(0),
    End: () => moveTo(count - 1),
    Enter: () => onOpen(active),
    " ": (event) => onToggle(active, event.shiftKey),
  };

  /** Opens the menu of the active row. */
  function openMenu() {
    /** @type {HTMLElement | null | undefined} */ (
      document.getElementById(`${id}-${active}`)?.querySelector('[aria-haspopup="menu"]')
    )?.click();
  }

  /**
   * @param {number} by
   * @param {boolean} selects
   */
  function step(by, selects) {
    moveTo(active + by);
    if (selects) onToggle(active, true);
  }

  grid.addEventListener("keydown", (event) => {
    if (event.target !== grid || count === 0) return;
    if ((event.ctrlKey || event.metaKey) && event.key === "a") {
      event.preventDefault();
      onToggleAll();
      return;
    }
    const handler = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
    if (handler === undefined) return;
    event.preventDefault();
    handler(event);
  });
  grid.addEventListener("scroll", draw, { passive: true });
  const resizeObserver = new ResizeObserver(draw);
  resizeObserver.observe(grid);

  return {
    element: grid,
    redraw: draw,
    /** Index of the row that the keyboard is at. */
    active: () => active,
    /**
     * Sets the number of rows.
     *
     * @param {number} length
     * @param {"same" | "other"} content "other" if all rows were replaced: scrolls back to the top
     */
    setCount(length, content) {
      count = length;
      if (content === "other") {
        active = 0;
        grid.scrollTop = 0;
      }
      draw();
    },
  };
}
