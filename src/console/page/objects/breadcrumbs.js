// Breadcrumbs to a folder or an object, used as the heading of its page.
import { pageHref } from "../client/router.js";
import { h } from "../elements/dom.js";
import { maskControls } from "./row.js";

/**
 * @param {string} bucket
 * @param {string} path a folder if it ends in a slash, otherwise an object
 * @param {Record<string, string | undefined>} [more] further parameters of the links
 */
export function breadcrumbs(bucket, path, more = {}) {
  const folders = path.split("/");
  const name = folders.pop();
  /** @type {[string, string | undefined][]} */
  const steps = [[bucket, undefined]];
  for (const [i, folder] of folders.entries()) steps.push([folder, `${folders.slice(0, i + 1).join("/")}/`]);
  const items = steps.map(([shown, prefix], i) => {
    const isHere = i === steps.length - 1 && name === "";
    const href = pageHref("objects", { bucket, prefix, ...more });
    return h("li", {}, h("a", { href, "aria-current": isHere ? "page" : undefined }, nameElement(shown)));
  });
  if (name !== "") items.push(h("li", {}, nameElement(name ?? "")));
  return h("h1", { class: "crumbs" }, h("ol", {}, ...items));
}

/** @param {string} text */
function nameElement(text) {
  return h("bdi", {}, maskControls(text));
}
