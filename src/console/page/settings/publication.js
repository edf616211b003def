// Form for the publication of a bucket: whether anyone can read it over HTTP, and its domains.
import { may } from "../client/permissions.js";
import { h } from "../elements/dom.js";
import { settingForm } from "./setting-form.js";

/** @import { BucketDetailsDocument } from "../../wire-bucket.ts" */
/** @import { SettingsDocument } from "../../wire-settings.ts" */

/**
 * @param {string} bucket
 * @param {SettingsDocument} settings
 * @param {BucketDetailsDocument} details
 * @param {AbortSignal} signal
 */
export function publicationForm(bucket, { publication, seen }, details, signal) {
  const isPublic = h("input", {
    ...{ id: "public", type: "checkbox", class: "toggle", checked: publication !== null },
    "aria-describedby": "public-help",
  });
  const index = textInput("public-index", publication?.index, "index.html");
  const notFound = textInput("public-not-found", publication?.notFound, "404.html");
  const cacheControl = textInput("public-cache", publication?.cacheControl, "max-age=3600");
  const mayAddDomains = may("administer");
  const domains = h("textarea", {
    ...{ id: "public-domains", rows: 2, spellcheck: "false", placeholder: "photos.example.com" },
    ...{ value: (publication?.domains ?? []).join("\n"), "aria-describedby": "public-domains-help" },
    readonly: !mayAddDomains,
  });
  const fields = h(
    "div",
    { class: "rule-grid" },
    field("public-index", "Index document", index, "Served for a folder."),
    field("public-not-found", "Page for missing keys", notFound, "Key of an object in this bucket."),
    field("public-cache", "Cache-Control", cacheControl, "Of objects that have none."),
    h(
      "div",
      { class: "field" },
      h("label", { for: "public-domains" }, "Domains"),
      domains,
      h(
        "p",
        { id: "public-domains-help", class: "quiet small-text" },
        mayAddDomains
          ? "One per line. Each serves only this bucket; point its DNS entry to this server."
          : "Administrators of the whole store set the domains of buckets.",
      ),
    ),
  );
  const url = details.publication?.url ?? null;
  const address =
    url === null
      ? undefined
      : h(
          "p",
          { class: "quiet" },
          "Published at ",
          h("a", { href: url, target: "_blank", rel: "noreferrer" }, url),
        );
  const update = () => {
    fields.hidden = !isPublic.checked;
  };
  update();
  const { element } = settingForm({
    ...{ bucket, kind: "publication", title: "Publication and domains", seen: seen.publication, signal },
    about: "Make all objects readable over HTTP without a key, for example as a website.",
    content: [
      h(
        "div",
        { class: "field" },
        h("label", { class: "choice" }, isPublic, "Anyone can read this bucket"),
        h(
          "p",
          { id: "public-help", class: "quiet small-text" },
          "Every object becomes public, also those that are uploaded later.",
        ),
      ),
      address,
      fields,
    ],
    value: () => ({
      publication: isPublic.checked
        ? {
            ...{ index: index.value, notFound: notFound.value, cacheControl: cacheControl.value },
            domains: domains.value.split(/[\s,]+/).filter((name) => name !== ""),
          }
        : null,
    }),
    saved() {
      dispatchEvent(new HashChangeEvent("hashchange"));
    },
  });
  element.addEventListener("input", update);
  return element;
}

/**
 * @param {string} id
 * @param {string | undefined} value
 * @param {string} placeholder
 */
function textInput(id, value, placeholder) {
  const text = { id, value: value ?? "", placeholder, autocomplete: "off", spellcheck: "false" };
  return h("input", { ...text, "aria-describedby": `${id}-help` });
}

/**
 * @param {string} id
 * @param {string} label
 * @param {HTMLElement} input
 * @param {string} help
 */
function field(id, label, input, help) {
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, label),
    input,
    h("p", { id: `${id}-help`, class: "quiet small-text" }, help),
  );
}
