// Form to change an object's HTTP metadata, custom metadata and storage class.
import { ask } from "../client/api.js";
import { openForm } from "../elements/dialog.js";
import { h } from "../elements/dom.js";
import { note } from "../elements/notices.js";
import { createPairs } from "../elements/pairs.js";

/** @import { ObjectDocument } from "../../wire-types.ts" */

/** Fields of the HTTP metadata, and the HTTP header of each. */
export const httpFields = /** @type {const} */ ([
  ["contentType", "Content-Type"],
  ["contentDisposition", "Content-Disposition"],
  ["contentEncoding", "Content-Encoding"],
  ["contentLanguage", "Content-Language"],
  ["cacheControl", "Cache-Control"],
  ["cacheExpiry", "Expires"],
]);

/**
 * @param {string} bucket
 * @param {ObjectDocument} object
 * @param {() => void} done
 */
export function openMetadataForm(bucket, object, done) {
  const fields = httpFields.map(([name, header]) => {
    const value = object.httpMetadata[name] ?? "";
    const text = typeof value === "number" ? new Date(value).toISOString() : value;
    return { name, header, input: h("input", { id: `field-${name}`, value: text, autocomplete: "off" }) };
  });
  const custom = createPairs({ pairs: Object.entries(object.customMetadata) });
  const storageClass = h(
    "select",
    { id: "field-class" },
    h("option", { value: "Standard" }, "Standard"),
    h("option", { value: "InfrequentAccess" }, "Infrequent access"),
  );
  storageClass.value = object.storageClass;
  const { dialog } = openForm({
    title: "Edit metadata",
    submit: "Save",
    content: [
      h(
        "p",
        { class: "quiet" },
        "Saving rewrites the object with the same bytes. It fails if the object is changed meanwhile.",
      ),
      h(
        "div",
        { class: "fields" },
        ...fields.map(({ name, header, input }) =>
          h("div", {}, h("label", { for: `field-${name}` }, header), input),
        ),
        h("div", {}, h("label", { for: "field-class" }, "Storage class"), storageClass),
      ),
      h("h3", {}, "Custom metadata"),
      custom.rows,
      custom.button,
    ],
    async run() {
      await ask("/api/object/metadata", {
        method: "POST",
        json: {
          ...{ bucket, key: object.key, etag: object.etag, storageClass: storageClass.value },
          httpMetadata: Object.fromEntries(fields.map(({ name, input }) => [name, input.value.trim()])),
          customMetadata: Object.fromEntries(custom.read()),
        },
      });
      note("Saved the metadata.");
      done();
    },
  });
  dialog.classList.add("wide");
}
