// Routes by the URL fragment: a page and its parameters. Every view can be bookmarked, and object
// keys may contain any character.

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
