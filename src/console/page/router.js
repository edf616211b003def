// Where one is: a page and its parameters, in the part of the address behind the #. So every place has an address of
// its own to keep or send, and keys may hold whatever they like.

/**
 * @typedef {object} Route
 * @property {string} page
 * @property {URLSearchParams} params
 */

/** @returns {Route} */
export function currentRoute() {
  const [, page = "", search = ""] = /^#\/?([^?]*)\??(.*)$/s.exec(location.hash) ?? [];
  return { page, params: new URLSearchParams(search) };
}

/**
 * @param {string} page
 * @param {Record<string, string | undefined>} [params]
 */
export function pageHref(page, params = {}) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== "") search.set(name, value);
  }
  const text = search.toString();
  return `#/${page}${text === "" ? "" : `?${text}`}`;
}

/**
 * @param {string} page
 * @param {Record<string, string | undefined>} [params]
 */
export function go(page, params) {
  location.hash = pageHref(page, params);
}
