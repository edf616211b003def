// The frame around every page: sidebar, top bar with search and account, and the content area.
import { ask } from "../client/api.js";
import { watchConnection } from "../client/connection.js";
import { describeRoles, setPermissions } from "../client/permissions.js";
import { pageHref } from "../client/router.js";
import { h, icon } from "../elements/dom.js";
import { icons } from "../elements/icons.js";
import { menuButton } from "../elements/menu.js";
import { uploadPanel } from "../upload/panel.js";
import { createContent } from "./content.js";
import { offeredPages } from "./pages.js";
import { openPalette } from "./palette.js";
import { listenForShortcuts, showHelp } from "./shortcuts.js";
import { showSignIn } from "./sign-in.js";
import { switchTheme } from "./theme-switch.js";

/** @import { SessionDocument } from "../../wire-session.ts" */
/** @import { Page } from "./pages.js" */

/** Created once per tab, so that uploads continue while the user signs in again. */
const uploads = uploadPanel();

let shellController = new AbortController();

/** @param {SessionDocument} session */
export function showShell(session) {
  setPermissions(session);
  shellController.abort();
  shellController = new AbortController();
  const { signal } = shellController;
  const main = h("main", { id: "main", tabindex: -1 });
  const links = offeredPages().map(linkTo);
  const palette = () => openPalette({ signOut });
  const shell = h("div", { class: "shell" });
  const setOpen = createDrawer(shell, signal);
  shell.append(sidebar(links), topBar({ session, palette, signal, openDrawer: () => setOpen(true) }), main);
  document.body.replaceChildren(
    h("a", { class: "skip", href: "#main", onclick: skipTo(main) }, "Skip to content"),
    shell,
    uploads,
    h("div", { id: "toasts", role: "status", "aria-live": "polite" }),
  );
  listenForShortcuts(palette);
  createContent(main, { links, signal, onShow: () => setOpen(false) });
}

/** @param {readonly HTMLAnchorElement[]} links */
function sidebar(links) {
  return h(
    "nav",
    { class: "side", id: "side", "aria-label": "Pages" },
    h("a", { class: "brand", href: pageHref("") }, h("img", { src: "/icon.svg", alt: "" }), "Store"),
    h("ul", {}, ...links.map((link) => h("li", {}, link))),
  );
}

/**
 * @param {object} options
 * @param {SessionDocument} options.session
 * @param {() => void} options.palette
 * @param {() => void} options.openDrawer
 * @param {AbortSignal} options.signal
 */
function topBar({ session: { name, role, buckets }, palette, openDrawer, signal }) {
  const mac = /Mac|iPhone|iPad/.test(navigator.platform);
  const find = h(
    "button",
    { class: "find", type: "button", onclick: palette, "aria-keyshortcuts": "Control+K Meta+K" },
    icon(icons.search),
    h("span", {}, "Search"),
    h("kbd", { "aria-hidden": "true" }, mac ? "⌘ K" : "Ctrl K"),
  );
  const drawer = toolButton("Pages", icons.menu, openDrawer);
  drawer.classList.add("only-narrow");
  drawer.setAttribute("aria-controls", "side");
  const account = menuButton({
    label: `Account of ${name}`,
    buttonClass: "bare account",
    content: [icon(icons.sessions), h("span", {}, name), icon(icons.chevron)],
    head: h(
      "div",
      { class: "who" },
      h("strong", {}, name),
      h("p", { class: "quiet small-text" }, describeRoles(role, buckets)),
    ),
    items: [
      { label: "Sessions", icon: "sessions", href: pageHref("sessions") },
      { label: "Sign out", icon: "signOut", run: () => void signOut() },
    ],
  });
  return h(
    "header",
    { class: "bar" },
    drawer,
    find,
    h(
      "div",
      { class: "tools" },
      offlineNotice(signal),
      toolButton("Keyboard shortcuts", icons.help, showHelp, "wide-only"),
      toolButton("Switch theme", icons.theme, switchTheme),
      account,
    ),
  );
}

/** @param {AbortSignal} signal */
function offlineNotice(signal) {
  const notice = h("p", { class: "offline", role: "status" });
  notice.hidden = true;
  watchConnection((state) => {
    notice.hidden = state === "online";
    notice.replaceChildren(state === "online" ? "" : "Server unreachable, retrying…");
  }, signal);
  return notice;
}

/**
 * On small screens the sidebar is a drawer, which Escape and a click beside it close.
 *
 * @param {HTMLElement} shell
 * @param {AbortSignal} signal
 */
function createDrawer(shell, signal) {
  /** @param {boolean} isOpen */
  function setOpen(isOpen) {
    const wasOpen = shell.classList.contains("open");
    shell.classList.toggle("open", isOpen);
    if (isOpen) /** @type {HTMLElement | null} */ (shell.querySelector(".side li a"))?.focus();
    else if (wasOpen) /** @type {HTMLElement | null} */ (shell.querySelector(".only-narrow"))?.focus();
  }
  addEventListener(
    "keydown",
    (event) => {
      if (event.key === "Escape" && shell.classList.contains("open")) setOpen(false);
    },
    { signal },
  );
  shell.addEventListener("click", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (shell.classList.contains("open") && target === shell) setOpen(false);
  });
  return setOpen;
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
 * @param {string} [more] class
 */
function toolButton(label, path, onclick, more = "") {
  return h(
    "button",
    { class: `tool ${more}`.trim(), type: "button", "aria-label": label, title: label, onclick },
    icon(path),
  );
}

/**
 * Goes to the list of the page if it has one, otherwise to its beginning.
 *
 * @param {HTMLElement} main
 */
function skipTo(main) {
  return (/** @type {Event} */ event) => {
    event.preventDefault();
    /** @type {HTMLElement} */ (main.querySelector('[role="grid"][tabindex="0"]') ?? main).focus();
  };
}

async function signOut() {
  await ask("/api/session", { method: "DELETE" });
  shellController.abort();
  showSignIn({ message: "You are signed out.", onSignedIn: showShell });
}
