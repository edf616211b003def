// The frame around every page: navigation, theme switch, sign-out, and the content area.
import { ask } from "../client/api.js";
import { describeRoles, setPermissions } from "../client/permissions.js";
import { currentRoute, pageHref } from "../client/router.js";
import { h, icon } from "../elements/dom.js";
import { icons } from "../elements/icons.js";
import { failure } from "../elements/notices.js";
import { uploadPanel } from "../upload/panel.js";
import { offeredPages, pages } from "./pages.js";
import { listenForShortcuts, showHelp } from "./shortcuts.js";
import { showSignIn } from "./sign-in.js";
import { switchTheme } from "./theme-switch.js";

/** @import { SessionDocument } from "../../wire-session.ts" */
/** @import { Page } from "./pages.js" */

/** @type {AbortController} */
let pageController = new AbortController();

/** Created once per tab, so that uploads continue while the user signs in again. */
const uploads = uploadPanel();

/** @param {SessionDocument} session */
export function showShell(session) {
  const { name, role, buckets } = session;
  setPermissions(session);
  const main = h("main", { id: "main", tabindex: -1 });
  const links = offeredPages().map(linkTo);
  const nav = h("nav", { "aria-label": "Pages" }, h("ul", {}, ...links.map((link) => h("li", {}, link))));
  document.body.replaceChildren(
    h("a", { class: "skip", href: "#main", onclick: skipTo(main) }, "Skip to content"),
    h(
      "header",
      { class: "bar" },
      h("a", { class: "brand", href: pageHref("buckets") }, h("img", { src: "/icon.svg", alt: "" }), "Store"),
      nav,
      h(
        "div",
        { class: "tools" },
        toolButton("Keyboard shortcuts", icons.help, showHelp),
        toolButton("Switch theme", icons.theme, switchTheme),
        toolButton(`Sign out (${name}, ${describeRoles(role, buckets)})`, icons.signOut, signOut),
      ),
    ),
    main,
    uploads,
    h("div", { id: "toasts", role: "status", "aria-live": "polite" }),
  );
  const show = () => void showPage(main, links);
  pageController.abort();
  removeEventListener("hashchange", hashListener);
  hashListener = show;
  addEventListener("hashchange", show);
  listenForShortcuts();
  show();
}

/** @type {() => void} */
let hashListener = () => {};

/**
 * @param {HTMLElement} main
 * @param {readonly HTMLAnchorElement[]} links
 */
async function showPage(main, links) {
  const hash = location.hash;
  const { page: id, params } = currentRoute();
  if (id.startsWith("token=")) return;
  const page = pages.find((one) => one.id === id) ?? pages[0];
  if (page === undefined) return;
  const isFirst = !main.hasChildNodes();
  pageController.abort();
  pageController = new AbortController();
  const { signal } = pageController;
  for (const link of links) {
    const isHere = link.dataset.page === (page.under ?? page.id);
    if (isHere) {
      link.setAttribute("aria-current", "page");
      // On small screens not all links fit.
      link.scrollIntoView({ block: "nearest", inline: "nearest" });
    } else link.removeAttribute("aria-current");
  }
  /** @param {string} title */
  const setTitle = (title) => {
    document.title = `${title} · Store console`;
  };
  setTitle(page.title);
  main.setAttribute("aria-busy", "true");
  /** @type {Node} */
  let content;
  try {
    const { render } = await page.load();
    content = await render({ params, signal, setTitle });
  } catch (error) {
    if (signal.aborted) return;
    content = failure(error, () => void showPage(main, links));
  }
  if (signal.aborted) return;
  main.replaceChildren(content);
  main.removeAttribute("aria-busy");
  // Tests wait for this attribute, to know that the page is complete.
  main.dataset.page = hash;
  if (!isFirst && document.activeElement === document.body) main.focus({ preventScroll: true });
}

/** @param {Page} page */
function linkTo({ id, title, icon: name }) {
  const drawn = name === undefined ? undefined : icon(icons[name]);
  return h("a", { href: pageHref(id), "data-page": id }, drawn, h("span", {}, title));
}

/**
 * @param {string} label
 * @param {string} path
 * @param {() => void} onclick
 */
function toolButton(label, path, onclick) {
  return h(
    "button",
    { class: "tool", type: "button", "aria-label": label, title: label, onclick },
    icon(path),
  );
}

/** @param {HTMLElement} main */
function skipTo(main) {
  return (/** @type {Event} */ event) => {
    event.preventDefault();
    main.focus();
  };
}

async function signOut() {
  await ask("/api/session", { method: "DELETE" });
  pageController.abort();
  removeEventListener("hashchange", hashListener);
  showSignIn({ message: "You are signed out.", onSignedIn: showShell });
}
