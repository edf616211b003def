// Panel with the uploads of this tab and their progress.
import { h, icon } from "../elements/dom.js";
import { bytes, number } from "../elements/format.js";
import { icons } from "../elements/icons.js";
import { allTasks, cancel, clearFinished, retry, uploadTotals, watchTasks } from "./queue.js";
import { createSpeed } from "./speed.js";

/** @import { Task } from "./queue.js" */

/** Maximum number of uploads in the list; further uploads are only counted. */
const maxShown = 50;

/** @type {Readonly<Record<Task["state"], number>>} */
const order = { sending: 0, failed: 1, waiting: 2, cancelled: 3, done: 4 };

export function uploadPanel() {
  const all = h("progress", { max: 1, "aria-label": "All uploads" });
  const statusText = h("span", { role: "status" });
  const speedText = h("span", { class: "quiet small-text upload-speed" });
  const speed = createSpeed();
  const fold = h("button", {
    ...{ class: "tool", type: "button", "aria-expanded": "true", "aria-controls": "upload-list" },
    onclick: () => setFolded(!list.hidden),
  });
  /** @param {boolean} isFolded */
  function setFolded(isFolded) {
    list.hidden = rest.hidden = isFolded;
    fold.setAttribute("aria-expanded", String(!isFolded));
    const label = isFolded ? "Show the list of uploads" : "Hide the list of uploads";
    fold.setAttribute("aria-label", label);
    fold.title = label;
    fold.replaceChildren(icon(isFolded ? icons.up : icons.chevron));
  }
  const list = h("ul", { id: "upload-list" });
  const rest = h("p", { class: "quiet" });
  const panel = h(
    "section",
    { class: "uploads-panel", "aria-label": "Uploads of this page", hidden: true },
    h(
      "div",
      { class: "uploads-head" },
      statusText,
      speedText,
      fold,
      h(
        "button",
        {
          class: "tool",
          type: "button",
          "aria-label": "Cancel all uploads",
          title: "Cancel all",
          onclick: cancelAll,
        },
        icon(icons.remove),
      ),
      h(
        "button",
        {
          class: "tool",
          type: "button",
          "aria-label": "Clear finished uploads",
          title: "Clear finished",
          onclick: clearFinished,
        },
        icon(icons.close),
      ),
    ),
    all,
    list,
    rest,
  );
  /** @type {Map<number, ReturnType<typeof taskRow>>} */
  const rows = new Map();

  function draw() {
    const tasks = allTasks();
    panel.hidden = tasks.length === 0;
    const shown = tasks.toSorted((a, b) => order[a.state] - order[b.state] || a.id - b.id).slice(0, maxShown);
    for (const id of rows.keys()) if (!shown.some((task) => task.id === id)) rows.delete(id);
    const elements = shown.map((task) => {
      const row = rows.get(task.id) ?? taskRow(task);
      rows.set(task.id, row);
      row.update();
      return row.element;
    });
    if (
      elements.some((element, i) => list.children[i] !== element) ||
      list.children.length !== elements.length
    ) {
      list.replaceChildren(...elements);
    }
    rest.textContent = tasks.length > maxShown ? `and ${number(tasks.length - maxShown)} more` : "";
    updateTotals(tasks);
  }

  /** @param {readonly Task[]} tasks */
  function updateTotals(tasks) {
    const counted = tasks.filter(({ state }) => state !== "cancelled");
    const { size, sent } = uploadTotals();
    const isBusy = tasks.some(({ state }) => state === "sending" || state === "waiting");
    speedText.textContent = isBusy ? speed.describe(sent, size) : "";
    all.value = size === 0 ? 1 : sent / size;
    const done = tasks.filter(({ state }) => state === "done").length;
    const failed = tasks.filter(({ state }) => state === "failed").length;
    const text = `${number(done)} of ${number(counted.length)} uploaded${failed > 0 ? `, ${number(failed)} failed` : ""}`;
    if (statusText.textContent !== text) statusText.textContent = text;
  }

  // The page ends above the panel, so that the panel never covers a button.
  new ResizeObserver(() => {
    document.documentElement.style.setProperty("--panel", `${panel.hidden ? 0 : panel.offsetHeight}px`);
  }).observe(panel);
  setFolded(false);

  let isDue = false;
  watchTasks(() => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      draw();
    });
  });
  draw();
  return panel;
}

function cancelAll() {
  for (const task of [...allTasks()]) if (task.state === "waiting" || task.state === "sending") cancel(task);
}

/** @param {Task} task */
function taskRow(task) {
  const bar = h("progress", { max: Math.max(1, task.file.size), "aria-label": task.key });
  const state = h("span", { class: "quiet" });
  const stop = h(
    "button",
    { class: "tool", type: "button", "aria-label": `Cancel ${task.key}`, onclick: () => cancel(task) },
    icon(icons.close),
  );
  const again = h(
    "button",
    { class: "tool", type: "button", "aria-label": `Retry ${task.key}`, onclick: () => retry(task) },
    icon(icons.retry),
  );
  const element = h(
    "li",
    {},
    h("span", { class: "upload-key", title: task.key }, task.key),
    state,
    again,
    stop,
    bar,
  );
  return {
    element,
    update() {
      bar.value = task.sent;
      bar.hidden = task.state !== "sending" && task.state !== "waiting";
      const words = {
        waiting: "waiting",
        sending: `${bytes(task.sent)} of ${bytes(task.file.size)}`,
        done: `${bytes(task.file.size)}, done`,
        failed: task.problem ?? "failed",
        cancelled: "cancelled",
      };
      state.textContent = words[task.state];
      element.className = task.state;
      stop.hidden = task.state !== "sending" && task.state !== "waiting";
      again.hidden = task.state !== "failed" && task.state !== "cancelled";
    },
  };
}
