// Live log of scripts, with a filter. Uses long polling: the server responds once there are lines.
import { ask } from "../client/api.js";
import { h } from "../elements/dom.js";
import { time } from "../elements/format.js";
import { isAbort } from "../elements/notices.js";

/** @import { LogDocument } from "../../wire-types.ts" */

/**
 * @typedef {object} LogOptions
 * @property {readonly string[]} scripts
 * @property {AbortSignal} signal
 * @property {() => void} onFault called when a script has written to stderr, which may be an error
 */

/** @typedef {LogDocument["lines"][number]} Line */

const maxLines = 2000;
const retryMilliseconds = 2000;

/** @param {LogOptions} options */
export function openLog({ scripts, signal, onFault }) {
  /** @type {{ line: Line, element: HTMLElement }[]} */
  const shown = [];
  const text = h("input", {
    id: "log-text",
    type: "search",
    placeholder: "Text in a line",
    autocomplete: "off",
  });
  const script = h(
    "select",
    { id: "log-script" },
    h("option", { value: "" }, "All scripts"),
    ...scripts.map((name) => h("option", { value: name }, name)),
  );
  const errorsOnly = h("input", { id: "log-errors", type: "checkbox" });
  const followEnd = h("input", {
    ...{ id: "log-follow", class: "toggle", type: "checkbox", role: "switch", checked: true },
    onchange: () => followEnd.checked && scrollToEnd(),
  });
  const scrollToEnd = () => {
    lines.scrollTop = lines.scrollHeight;
  };
  const state = h("p", { class: "quiet", role: "status" }, "Waiting for lines…");
  const lines = h("div", { class: "log", tabindex: 0, role: "log", "aria-label": "Log", "aria-live": "off" });

  /** @param {Line} line */
  function matches(line) {
    const searchText = text.value.trim().toLowerCase();
    return (
      (script.value === "" || line.script === script.value) &&
      (!errorsOnly.checked || line.stream === "stderr") &&
      line.text.toLowerCase().includes(searchText)
    );
  }

  function filter() {
    for (const { line, element } of shown) element.hidden = !matches(line);
    updateCount();
  }
  for (const control of [text, script, errorsOnly]) control.addEventListener("input", filter);

  function updateCount() {
    const count = shown.filter(({ element }) => !element.hidden).length;
    state.textContent = shown.length === 0 ? "Waiting for lines…" : `${count} of ${shown.length} lines`;
  }

  /** @param {readonly Line[]} fresh */
  function add(fresh) {
    const added = fresh.map((line) => {
      const names = scripts.length > 1 ? [h("span", { class: "quiet" }, `${line.script} `)] : [];
      const when = h("span", { class: "quiet" }, `${time(line.time).slice(11)} `);
      const element = h("div", { class: line.stream, hidden: !matches(line) }, when, ...names, line.text);
      return { line, element };
    });
    shown.push(...added);
    lines.append(...added.map(({ element }) => element));
    for (const { element } of shown.splice(0, Math.max(0, shown.length - maxLines))) element.remove();
    if (followEnd.checked) scrollToEnd();
    updateCount();
    if (fresh.some(({ stream }) => stream === "stderr")) onFault();
  }

  async function follow() {
    let after = 0;
    while (!signal.aborted) {
      try {
        /** @type {LogDocument} */
        const { lines: fresh } = await ask("/api/scripts/log", { query: { after }, signal });
        const last = fresh.at(-1)?.number ?? after;
        // If there are no lines yet, -1 makes the next request wait for the first line.
        after = last === 0 ? -1 : last;
        if (fresh.length > 0) add(fresh);
      } catch (error) {
        if (isAbort(error) || signal.aborted) return;
        state.textContent = "The server cannot be reached; trying again…";
        await new Promise((resolve) => setTimeout(resolve, retryMilliseconds));
      }
    }
  }
  void follow();

  return h(
    "section",
    { class: "card", "aria-label": "Live log" },
    h("div", { class: "card-head" }, h("h2", {}, "Live log"), state),
    h(
      "div",
      { class: "card-body" },
      h(
        "div",
        { class: "filters" },
        h("div", { class: "field" }, h("label", { for: "log-text" }, "Filter"), text),
        h("div", { class: "field" }, h("label", { for: "log-script" }, "Script"), script),
        h("label", { class: "choice" }, errorsOnly, "Errors only"),
        h("label", { class: "choice" }, followEnd, "Follow"),
      ),
      lines,
    ),
  );
}
