// Shows the page of the address in the content area: a skeleton while it loads, the page, or why it
// could not be shown. If the server was unreachable, the page is loaded again once it answers.
import { ApiError, unreachableError } from "../client/api.js";
import { noteOffline, watchConnection } from "../client/connection.js";
import { currentRoute } from "../client/router.js";
import { failure } from "../elements/notices.js";
import { skeletonMilliseconds, skeletonPage } from "../elements/skeleton.js";
import { offeredPages, pages } from "./pages.js";

/** @import { Page } from "./pages.js" */

/**
 * @typedef {object} ContentOptions
 * @property {readonly HTMLAnchorElement[]} links of the navigation
 * @property {AbortSignal} signal aborted when the user signs out
 * @property {() => void} onShow called when a page is opened
 */

/**
 * @param {HTMLElement} main
 * @param {ContentOptions} options
 */
export function createContent(main, { links, signal: whole, onShow }) {
  let controller = new AbortController();
  /** What to do when the server answers again. @type {(() => void) | undefined} */
  let onOnline;

  /** @param {{ isFirst?: boolean }} [options] */
  async function show({ isFirst = false } = {}) {
    const hash = location.hash;
    const { page: id, params } = currentRoute();
    if (id.startsWith("token=")) return;
    const page = pages.find((one) => one.id === id) ?? offeredPages()[0];
    if (page === undefined) return;
    controller.abort();
    controller = new AbortController();
    onOnline = undefined;
    const { signal } = controller;
    markCurrent(links, page);
    onShow();
    /** @param {string} title */
    const setTitle = (title) => {
      document.title = `${title} · Store console`;
    };
    setTitle(page.title);
    main.setAttribute("aria-busy", "true");
    const timer = setTimeout(() => {
      if (!signal.aborted) main.replaceChildren(skeletonPage(page.title));
    }, skeletonMilliseconds);
    /** @type {Node} */
    let content;
    try {
      const { render } = await loadPage(page);
      content = await render({ params, signal, setTitle });
    } catch (error) {
      if (signal.aborted) return;
      content = failure(error, () => void show());
      if (error instanceof ApiError && error.status === 0) onOnline = retryAfter(error, () => void show());
    } finally {
      clearTimeout(timer);
    }
    if (signal.aborted) return;
    main.replaceChildren(content);
    main.removeAttribute("aria-busy");
    // Tests wait for this attribute, to know that the page is complete.
    main.dataset.page = hash;
    if (!isFirst && document.activeElement === document.body) main.focus({ preventScroll: true });
  }

  watchConnection((state) => {
    if (state === "online") onOnline?.();
  }, whole);
  addEventListener("hashchange", () => void show(), { signal: whole });
  whole.addEventListener("abort", () => controller.abort());
  void show({ isFirst: true });
}

/** Names of modules that could not be loaded: the browser does not load them again. */
const failedModules = new WeakSet();

/** @param {Page} page */
async function loadPage(page) {
  try {
    return await page.load();
  } catch (error) {
    // The files of the page come from the same server: without them, it cannot be reached.
    if (!(error instanceof TypeError)) throw error;
    noteOffline();
    const unreachable = unreachableError();
    failedModules.add(unreachable);
    throw unreachable;
  }
}

/**
 * @param {ApiError} error
 * @param {() => void} show
 */
function retryAfter(error, show) {
  return failedModules.has(error) ? () => location.reload() : show;
}

/**
 * @param {readonly HTMLAnchorElement[]} links
 * @param {Page} page
 */
function markCurrent(links, page) {
  for (const link of links) {
    if (link.dataset.page === (page.under ?? page.id)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}
