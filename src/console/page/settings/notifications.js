// Card with the notification rules of a bucket: list, add, test and remove.
import { ask } from "../client/api.js";
import { may } from "../client/permissions.js";
import { copyField } from "../elements/copy-field.js";
import { openDialog, openForm } from "../elements/dialog.js";
import { h, icon } from "../elements/dom.js";
import { ago, number } from "../elements/format.js";
import { icons } from "../elements/icons.js";
import { menuButton } from "../elements/menu.js";
import { note, noteFailure } from "../elements/notices.js";
import { table, tableRow } from "../elements/table.js";

/** @import { NewNotificationDocument, NotificationDocument, NotificationsDocument } from "../../wire-bucket.ts" */
/** @import { Column } from "../elements/table.js" */

/** @type {readonly Column[]} */
const columns = [
  { name: "Rule" },
  { name: "Target" },
  { name: "Events" },
  { name: "Keys" },
  { name: "Waiting", kind: "number" },
  { name: "Last delivery" },
];

/**
 * @param {string} bucket
 * @param {NotificationsDocument} first
 * @param {AbortSignal} signal
 */
export function notificationsCard(bucket, first, signal) {
  const area = h("div", {});
  const refresh = async () => show(await ask("/api/notifications", { query: { bucket }, signal }));

  /** @param {NotificationsDocument} document */
  function show({ rules, events }) {
    const add = h(
      "button",
      { type: "button", onclick: () => openAdding(bucket, events, refresh) },
      icon(icons.add),
      "Add notification",
    );
    area.replaceChildren(
      h(
        "section",
        { class: "card editor", "aria-label": "Notifications" },
        h(
          "div",
          { class: "page-head" },
          h(
            "div",
            { class: "grow" },
            h("h2", {}, "Notifications"),
            h("p", { class: "quiet" }, "Send events of new and deleted objects to a webhook or a script."),
          ),
          may("administer", bucket) ? add : undefined,
        ),
        rules.length === 0
          ? h("p", { class: "quiet" }, "No rules: events are not sent anywhere.")
          : table({ label: "Notification rules", columns, rows: rules.map(row), hasTools: true }),
      ),
    );
  }

  /** @param {NotificationDocument} rule */
  function row(rule) {
    const { id, target, events, prefix, suffix, waiting, lastDelivered, lastFailure } = rule;
    const failure =
      lastFailure === null || (lastDelivered ?? 0) > lastFailure.time
        ? undefined
        : h("span", { class: "badge failed", title: lastFailure.what }, "Failed");
    return tableRow(
      columns,
      [
        id,
        h("span", { class: "mono break" }, target.kind === "script" ? `script ${target.name}` : target.name),
        events.map((event) => event.replace(/^s3:/, "")).join(", "),
        prefix === "" && suffix === "" ? "all" : `${prefix}*${suffix}`,
        number(waiting),
        [lastDelivered === null ? "never " : `${ago(lastDelivered)} `, failure],
      ],
      may("administer", bucket) &&
        menuButton({
          label: `Actions for rule ${id}`,
          items: [
            target.kind === "webhook" && { label: "Send a test", icon: "retry", run: () => void test(rule) },
            target.kind === "webhook" && "line",
            { label: "Remove…", icon: "remove", danger: true, run: () => remove(rule) },
          ],
        }),
    );
  }

  /** @param {NotificationDocument} rule */
  async function test({ id }) {
    try {
      await ask("/api/notifications/test", { method: "POST", json: { bucket, id } });
      note("The webhook accepted the test message.");
    } catch (error) {
      noteFailure(error);
    }
  }

  /** @param {NotificationDocument} rule */
  function remove({ id, waiting }) {
    openForm({
      title: `Remove notification rule ${id}?`,
      submit: "Remove rule",
      danger: true,
      content: [
        h(
          "p",
          {},
          waiting === 0 ? "New events are no longer sent." : `${number(waiting)} waiting events are dropped.`,
        ),
      ],
      async run() {
        await ask("/api/notifications", { method: "DELETE", query: { bucket, id } });
        note(`Removed rule ${id}.`);
        await refresh();
      },
    });
  }

  show(first);
  return area;
}

/**
 * @param {string} bucket
 * @param {readonly string[]} events
 * @param {() => Promise<void>} done
 */
function openAdding(bucket, events, done) {
  const kind = h(
    "select",
    { id: "notify-kind" },
    h("option", { value: "webhook" }, "Webhook"),
    h("option", { value: "script" }, "Script"),
  );
  const name = input("notify-name", "https://example.com/hook");
  const prefix = input("notify-prefix", "all keys");
  const suffix = input("notify-suffix", ".jpg");
  const id = input("notify-id", "generated");
  const boxes = events
    .filter((event) => event.endsWith("*"))
    .map((event) => ({ event, box: h("input", { type: "checkbox", checked: true }) }));
  /** @type {Readonly<Record<string, string>>} */
  const names = {
    "s3:ObjectCreated:*": "Created",
    "s3:ObjectRemoved:*": "Deleted",
    "s3:LifecycleExpiration:*": "Expired by lifecycle",
  };
  name.required = true;
  openForm({
    title: "Add a notification",
    submit: "Add",
    content: [
      field("notify-kind", "Target", kind),
      field("notify-name", "URL of the webhook, or name of the script", name),
      h(
        "fieldset",
        {},
        h("legend", {}, "Events"),
        h(
          "div",
          { class: "choices" },
          ...boxes.map(({ event, box }) => h("label", { class: "choice" }, box, names[event] ?? event)),
        ),
      ),
      h(
        "div",
        { class: "fields" },
        field("notify-prefix", "Keys that begin with", prefix),
        field("notify-suffix", "Keys that end with", suffix),
      ),
      field("notify-id", "Name of the rule", id),
    ],
    async run() {
      const chosen = boxes.filter(({ box }) => box.checked).map(({ event }) => event);
      /** @type {NewNotificationDocument} */
      const made = await ask("/api/notifications", {
        method: "POST",
        json: {
          ...{ bucket, id: id.value, events: chosen, prefix: prefix.value, suffix: suffix.value },
          target: { kind: kind.value, name: name.value.trim() },
        },
      });
      await done();
      const { secret } = made;
      if (secret === null) note(`Added rule ${made.id}.`);
      else setTimeout(() => showSecret(secret));
    },
  });
  name.focus();
}

/** @param {string} secret */
function showSecret(secret) {
  /** @type {HTMLDialogElement} */
  const dialog = openDialog(
    h(
      "div",
      {},
      h("h2", { id: "dialog-title" }, "Secret of the webhook"),
      h("p", {}, "It signs the messages, so that the receiver can check them. It is not shown again."),
      copyField("Secret", secret),
      h(
        "div",
        { class: "actions" },
        h("button", { class: "primary", type: "button", onclick: () => dialog.close() }, "Done"),
      ),
    ),
  );
}

/**
 * @param {string} id
 * @param {string} placeholder
 */
function input(id, placeholder) {
  return h("input", { id, placeholder, autocomplete: "off", spellcheck: "false" });
}

/**
 * @param {string} id
 * @param {string} label
 * @param {HTMLElement} control
 */
function field(id, label, control) {
  return h("div", { class: "field" }, h("label", { for: id }, label), control);
}
