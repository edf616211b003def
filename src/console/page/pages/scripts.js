// Page of scripts: routes, bindings, secrets, recent errors, live log and restart.
import { ask } from "../client/api.js";
import { may } from "../client/permissions.js";
import { h, icon } from "../elements/dom.js";
import { time } from "../elements/format.js";
import { icons } from "../elements/icons.js";
import { firstStep, isAbort, note, noteFailure } from "../elements/notices.js";
import { openLog } from "../scripts/log.js";
import { secretsField } from "../scripts/secrets.js";

/** @import { FaultDocument, ScriptDocument, ScriptsDocument } from "../../wire-types.ts" */
/** @import { View } from "../frame/pages.js" */

/** @param {View} view */
export async function render({ signal }) {
  const faults = h("div", { class: "stack" });
  const list = h("div", { class: "stack" });

  async function refresh() {
    /** @type {ScriptsDocument} */
    const all = await ask("/api/scripts", { signal });
    list.replaceChildren(...(all.scripts.length === 0 ? [emptyState()] : all.scripts.map(scriptCard)));
    showFaults(all.faults);
    return all.scripts;
  }

  async function refreshFaults() {
    /** @type {ScriptsDocument} */
    const all = await ask("/api/scripts", { signal });
    showFaults(all.faults);
  }

  /** @type {Map<string, HTMLElement>} */
  let shownFaults = new Map();

  /**
   * Keeps the cards of errors that are already shown, so that open cards stay open.
   *
   * @param {readonly FaultDocument[]} all
   */
  function showFaults(all) {
    shownFaults = new Map(
      all.map((fault) => {
        const key = JSON.stringify(fault);
        return [key, shownFaults.get(key) ?? faultCard(fault)];
      }),
    );
    const none = h("p", { class: "quiet" }, "None since the server started.");
    faults.replaceChildren(...(shownFaults.size === 0 ? [none] : shownFaults.values()));
  }

  /** @param {ScriptDocument} script */
  function scriptCard(script) {
    const { name } = script;
    const button = h(
      "button",
      {
        type: "button",
        "aria-label": `Restart ${name}`,
        "data-restart": name,
        onclick: () => void restart().catch(noteFailure),
      },
      icon(icons.retry),
      "Restart",
    );
    async function restart() {
      button.disabled = true;
      try {
        await ask("/api/scripts/restart", { method: "POST", query: { script: name }, json: {} });
        note(`Restarted script ${name}.`);
        await refresh();
        /** @type {HTMLElement | null} */ (
          list.querySelector(`[data-restart="${CSS.escape(name)}"]`)
        )?.focus();
      } finally {
        button.disabled = false;
      }
    }
    return h(
      "section",
      { class: "card", "aria-label": name },
      h("div", { class: "card-head" }, h("h2", {}, name), may("administer") ? button : undefined),
      h("div", { class: "card-body" }, scriptFacts(script), secretsField(script, refresh)),
    );
  }

  const scripts = await refresh();
  const log = openLog({
    scripts: scripts.map(({ name }) => name),
    signal,
    onFault: () => void refreshFaults().catch((error) => isAbort(error) || noteFailure(error)),
  });
  return h(
    "div",
    {},
    h("div", { class: "page-head" }, h("h1", {}, "Scripts")),
    h(
      "div",
      { class: "stack" },
      list,
      ...(scripts.length === 0 ? [] : [log, h("h2", {}, "Recent errors"), faults]),
    ),
  );
}

function emptyState() {
  return firstStep({
    ...{ icon: "scripts", title: "This server runs no scripts" },
    text: [
      "A script answers requests beside its data, with buckets as bindings. Create one with ",
      h("code", {}, "store init"),
      " and start the server in its folder.",
    ],
  });
}

/** @param {ScriptDocument} script */
function scriptFacts({ file, routes, schedules, buckets, variables }) {
  const bindings = buckets.map(({ binding, bucket }) => `env.${binding} → ${bucket}`);
  /** @type {[string, readonly string[]][]} */
  const facts = [
    ["Configuration", [file]],
    ["Routes", routes.length === 0 ? ["all other requests"] : routes],
    ["Schedules (crons)", schedules],
    ["Buckets", bindings],
    ["Variables", variables.map((name) => `env.${name}`)],
  ];
  const shown = facts.filter(([, values]) => values.length > 0);
  return h(
    "dl",
    { class: "facts" },
    ...shown.flatMap(([name, values]) => [h("dt", {}, name), h("dd", { class: "mono" }, values.join(", "))]),
  );
}

/** @param {FaultDocument} fault */
function faultCard({ time: when, script, message, stack }) {
  return h(
    "details",
    { class: "card fault" },
    h("summary", {}, h("span", { class: "quiet" }, `${time(when)} ${script} `), message),
    h("pre", { tabindex: 0 }, [message, ...stack.map((line) => `    ${line}`)].join("\n")),
  );
}
