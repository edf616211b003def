// Settings and facts of this server: version, data, ports, encryption, sign-in, quotas, appearance.
import { ask } from "../client/api.js";
import { may } from "../client/permissions.js";
import { h } from "../elements/dom.js";
import { duration, time } from "../elements/format.js";
import { settingsTabs } from "../frame/settings-tabs.js";
import { currentTheme, setTheme } from "../frame/theme-switch.js";
import { accountsSection } from "../settings/accounts.js";

/** @import { AboutDocument } from "../../wire-administration.ts" */
/** @import { View } from "../frame/pages.js" */

/** @param {View} view */
export async function render({ signal }) {
  /** @type {AboutDocument | undefined} */
  const about = may("administer") ? await ask("/api/about", { signal }) : undefined;
  const accounts = may("administer") ? await accountsSection(signal) : undefined;
  return h(
    "div",
    {},
    h("div", { class: "page-head" }, h("h1", {}, "Settings")),
    settingsTabs("settings"),
    h(
      "div",
      { class: "stack" },
      ...(about === undefined ? [] : serverCards(about)),
      accounts,
      appearanceCard(),
    ),
  );
}

/** @param {AboutDocument} about */
function serverCards(about) {
  const { version, node, started, data, ports, encryption, providers } = about;
  return [
    factCard("Server", [
      ["Version", [version]],
      ["Node.js", [node]],
      ["Running for", [`${duration(Date.now() - started)}, since ${time(started)}`]],
      ["Data", data.map((one) => h("span", { class: "mono" }, one))],
    ]),
    factCard(
      "Ports",
      ports.map(({ name, url }) => [name, [h("span", { class: "mono" }, url)]]),
    ),
    factCard("Encryption", [
      [
        "New objects",
        [
          encryption === "always"
            ? "are always encrypted with the store's key."
            : "are encrypted where a bucket's settings or the client ask for it.",
        ],
      ],
    ]),
    factCard("Sign-in", [
      ["Tokens", ["of users, or with roles of their own"]],
      [
        "OpenID providers",
        [
          providers.length === 0
            ? "none; add them with store serve --console-oidc FILE"
            : providers.map(({ title }) => title).join(", "),
        ],
      ],
    ]),
  ];
}

/**
 * @param {string} title
 * @param {readonly [string, readonly (Node | string)[]][]} facts
 */
function factCard(title, facts) {
  return h(
    "section",
    { class: "card", "aria-label": title },
    h("div", { class: "card-head" }, h("h2", {}, title)),
    h(
      "dl",
      { class: "facts card-body" },
      ...facts.flatMap(([name, values]) => [
        h("dt", {}, name),
        h(
          "dd",
          {},
          ...values.flatMap((value, i) =>
            i > 0 && value instanceof HTMLSpanElement ? [h("br"), value] : [value],
          ),
        ),
      ]),
    ),
  );
}

const themes = { system: "As the system", light: "Light", dark: "Dark" };

function appearanceCard() {
  const select = h(
    "select",
    { id: "theme", onchange: () => setTheme(select.value) },
    ...Object.entries(themes).map(([value, name]) =>
      h("option", { value, selected: value === currentTheme() }, name),
    ),
  );
  return h(
    "section",
    { class: "card", "aria-label": "Appearance" },
    h("div", { class: "card-head" }, h("h2", {}, "Appearance")),
    h("div", { class: "card-body short" }, h("label", { for: "theme" }, "Theme of this browser"), select),
  );
}
