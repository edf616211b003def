// Creates elements. Text always becomes a text node, never HTML, so that object keys and headers
// cannot inject markup.

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, unknown>} Props */

/**
 * Creates an element: `h("button", { class: "primary", onclick }, "Save")`. "on…" adds a listener;
 * false, null and undefined omit an attribute; true sets it without a value.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Props} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) setProperty(element, name, value);
  element.append(...toNodes(children));
  return element;
}

const svgSpace = "http://www.w3.org/2000/svg";

/**
 * @param {string} path SVG path on a 20 by 20 grid
 * @returns {SVGSVGElement}
 */
export function icon(path) {
  const svg = document.createElementNS(svgSpace, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const drawn = document.createElementNS(svgSpace, "path");
  drawn.setAttribute("d", path);
  svg.append(drawn);
  return svg;
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {unknown} value
 */
function setProperty(element, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name.startsWith("on") && typeof value === "function") {
    element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
  } else if (name === "value" && "value" in element) {
    element.value = value;
  } else {
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * @param {(Child | Child[])[]} children
 * @returns {(Node | string)[]}
 */
function toNodes(children) {
  /** @type {(Node | string)[]} */
  const nodes = [];
  for (const child of children.flat()) {
    if (child === undefined || child === null || child === false) continue;
    nodes.push(child instanceof Node ? child : String(child));
  }
  return nodes;
}
