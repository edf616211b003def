// The card of the server's health: readiness, disk, backups, scrub and scripts.
import { pageHref } from "../client/router.js";
import { h } from "../elements/dom.js";
import { ago, bytes, counted, percent } from "../elements/format.js";

/** @import { HealthDocument } from "../../wire-administration.ts" */
/** @import { MetricsDocument } from "../../wire-types.ts" */

/** @typedef {"good" | "warning" | "bad" | "unknown"} Level */

/** Less free space than this is a warning, or a problem. */
const lowShare = 0.15;
const veryLowShare = 0.05;
const oldBackupMilliseconds = 8 * 86_400_000;

/**
 * @param {HealthDocument} health
 * @param {MetricsDocument["scrub"] | undefined} scrub undefined if metrics are off
 */
export function healthCard(health, scrub) {
  const lines = [readiness(health), disk(health), backup(health), scrubLine(scrub), scripts(health)];
  return h(
    "section",
    { class: "card", "aria-label": "Health" },
    h("div", { class: "card-head" }, h("h2", {}, "Health")),
    h("ul", { class: "health" }, ...lines),
  );
}

/**
 * @param {Level} level
 * @param {string} title
 * @param {...(Node | string)} more
 */
function line(level, title, ...more) {
  return h(
    "li",
    {},
    h("span", { class: `dot ${level}`, "aria-hidden": "true" }),
    h("span", {}, title, h("span", { class: "unseen" }, levelNames[level])),
    ...(more.length === 0 ? [] : [h("span", { class: "quiet small-text" }, ...more)]),
  );
}

/** @type {Readonly<Record<Level, string>>} */
const levelNames = { good: " (good)", warning: " (warning)", bad: " (problem)", unknown: "" };

/** @param {HealthDocument} health */
function readiness({ troubles }) {
  if (troubles.length === 0) return line("good", "Ready", "All ports answer and the store can write.");
  return line("bad", "Not ready", troubles.join(" "));
}

/** @param {HealthDocument} health */
function disk({ disk: found }) {
  if (found === null) return line("unknown", "Disk", "The data is in a cluster; watch its disks there.");
  const share = found.total === 0 ? 1 : found.free / found.total;
  const level = share < veryLowShare ? "bad" : share < lowShare ? "warning" : "good";
  return line(
    level,
    `Disk: ${percent(1 - share)} used`,
    `${bytes(found.free)} of ${bytes(found.total)} free`,
  );
}

/** @param {HealthDocument} health */
function backup({ lastBackup }) {
  if (lastBackup === null)
    return line(
      "warning",
      "No backup yet",
      "Make one on the server: ",
      h("code", {}, "store backup --to DIR"),
    );
  const isOld = Date.now() - lastBackup > oldBackupMilliseconds;
  return line(isOld ? "warning" : "good", `Last backup ${ago(lastBackup)}`);
}

/** @param {MetricsDocument["scrub"] | undefined} scrub */
function scrubLine(scrub) {
  if (scrub === undefined)
    return line("unknown", "Metrics are off", "Start the server without --no-metrics.");
  const { damages, isRunning, read, stored, lastEnded } = scrub;
  if (damages > 0)
    return line("bad", `${counted(damages, "damage")} found`, "List them: ", h("code", {}, "store verify"));
  if (isRunning) return line("good", "Scrub running", `Read ${bytes(read ?? 0)} of ${bytes(stored ?? 0)}.`);
  if (lastEnded === null) return line("unknown", "Scrub", "No scrub has finished yet; one runs every week.");
  return line("good", "No damage found", `Scrub finished ${ago(lastEnded)}.`);
}

/** @param {HealthDocument} health */
function scripts({ scripts: count, faults }) {
  if (count === 0) return line("unknown", "No scripts on this server");
  const link = h("a", { href: pageHref("scripts") }, "Logs");
  if (faults === 0) return line("good", counted(count, "script"), "No errors in the last 24 hours. ", link);
  return line(
    "warning",
    counted(count, "script"),
    `${counted(faults, "error")} in the last 24 hours. `,
    link,
  );
}
