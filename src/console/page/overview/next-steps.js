// What to do next in a store without buckets, without keys, or without traffic.
import { pageHref } from "../client/router.js";
import { snippet } from "../elements/copy-field.js";
import { h, icon } from "../elements/dom.js";
import { icons } from "../elements/icons.js";

/**
 * @typedef {object} NextStepsOptions
 * @property {boolean} hasBuckets
 * @property {boolean} hasKeys
 * @property {string} endpoint URL of the S3 API
 */

/** @param {NextStepsOptions} options */
export function nextSteps({ hasBuckets, hasKeys, endpoint }) {
  return h(
    "section",
    { class: "card", "aria-label": "Next steps" },
    h("div", { class: "card-head" }, h("h2", {}, "Next steps")),
    h(
      "ol",
      { class: "steps" },
      step("Create a bucket", {
        isDone: hasBuckets,
        text: "A bucket contains objects. Its name is part of their addresses.",
        content: hasBuckets
          ? h("a", { href: pageHref("buckets") }, "Open the buckets")
          : h("a", { class: "button primary", href: pageHref("buckets", { create: "1" }) }, "Create bucket"),
      }),
      step("Create an access key", {
        isDone: hasKeys,
        text: "S3 clients sign their requests with a key. Limit it to a bucket or a prefix.",
        content: hasKeys
          ? h("a", { href: pageHref("keys") }, "Open the keys")
          : h("a", { class: "button", href: pageHref("keys", { create: "1" }) }, "Create key"),
      }),
      step("Connect a client", {
        isDone: false,
        text: "Any S3 client works, for example the AWS command line:",
        content: snippet(`aws s3 ls --endpoint-url ${endpoint}`, "command"),
      }),
    ),
  );
}

/**
 * @param {string} title
 * @param {{ isDone: boolean, text: string, content: Node }} options
 */
function step(title, { isDone, text, content }) {
  const done = isDone ? h("span", { class: "badge good" }, icon(icons.check), "done") : undefined;
  return h("li", {}, h("h3", {}, title), done, h("p", { class: "quiet" }, text), content);
}
