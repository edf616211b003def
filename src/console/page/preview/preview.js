// Shows an object's content without running it: media in media elements, text as text, a PDF in a
// frame of another origin. The server sends all content with a sandbox policy.
import { address, ask, toApiError } from "../client/api.js";
import { h } from "../elements/dom.js";
import { bytes } from "../elements/format.js";
import { failure, isAbort } from "../elements/notices.js";

/** @import { LinkDocument, ObjectDocument, Preview } from "../../wire-types.ts" */

const maxTextBytes = 256 * 1024;
/** Larger images are only shown on request. */
const maxImageBytes = 25 * 1024 * 1024;

/** @typedef {(text: string, options: { key: string, isWhole: boolean }) => Node} RenderText */

const loadSource = () => import("./source-text.js");

/** @type {Readonly<Partial<Record<Preview, () => Promise<{ render: RenderText }>>>>} */
const textRenderers = {
  text: loadSource,
  json: () => import("./json-tree.js"),
  csv: () => import("./csv-table.js"),
  markdown: () => import("./markdown.js"),
};

/**
 * @param {string} bucket
 * @param {ObjectDocument} object
 * @param {AbortSignal} signal
 */
export function preview(bucket, object, signal) {
  const container = h("div", { class: "preview" });
  const { preview: kind, size, encryptionKeyMd5 } = object;
  const show = () => container.replaceChildren(createContent(bucket, object, signal));
  if (encryptionKeyMd5 !== undefined) {
    container.append(
      h(
        "p",
        { class: "quiet" },
        "This object is encrypted with a customer-provided key and cannot be shown without it.",
      ),
    );
  } else if (size === 0) container.append(h("p", { class: "quiet" }, "This object is empty."));
  else if (kind === "none") {
    container.append(
      h("p", { class: "quiet" }, "This content type cannot be shown here. Download the object instead."),
    );
  } else if (kind === "image" && size > maxImageBytes) {
    container.append(h("button", { type: "button", onclick: show }, `Show image (${bytes(size)})`));
  } else show();
  return container;
}

/**
 * @param {string} bucket
 * @param {ObjectDocument} object
 * @param {AbortSignal} signal
 * @returns {Node}
 */
function createContent(bucket, { key, version, preview: kind, size }, signal) {
  const src = address("/api/content", { bucket, key, version, as: "preview" });
  const title = `Preview of ${key}`;
  switch (kind) {
    case "image":
      return h("img", { src, alt: title });
    case "video":
      return h("video", { src, controls: true, preload: "metadata", "aria-label": title });
    case "audio":
      return h("audio", { src, controls: true, preload: "metadata", "aria-label": title });
    case "pdf":
      return pdfFrame(bucket, key, { title, signal });
    default:
      return textPreview(src, { key, size, kind, title, signal });
  }
}

/**
 * Browsers do not show a PDF in a sandbox, so the frame loads it from the S3 API's origin, with a
 * short-lived link.
 *
 * @param {string} bucket
 * @param {string} key
 * @param {{ title: string, signal: AbortSignal }} options
 */
function pdfFrame(bucket, key, { title, signal }) {
  const frame = h("iframe", { title, referrerpolicy: "no-referrer" });
  async function load() {
    try {
      /** @type {LinkDocument} */
      const { url } = await ask("/api/object/frame", { query: { bucket, key }, signal });
      frame.src = url;
    } catch (error) {
      if (!isAbort(error)) frame.replaceWith(failure(error, load));
    }
  }
  void load();
  return frame;
}

/**
 * @param {string} src
 * @param {{ key: string, size: number, kind: Preview, title: string, signal: AbortSignal }} options
 */
function textPreview(src, { key, size, kind, title, signal }) {
  const element = h("div", { class: "text-preview", tabindex: 0, role: "region", "aria-label": title }, "…");
  const isWhole = size <= maxTextBytes;
  async function load() {
    try {
      const headers = isWhole ? undefined : { range: `bytes=0-${maxTextBytes - 1}` };
      const response = await fetch(src, headers === undefined ? { signal } : { headers, signal });
      if (!response.ok) throw await toApiError(response.status, () => response.json());
      const { render } = await (textRenderers[kind] ?? loadSource)();
      element.replaceChildren(render(await response.text(), { key, isWhole }));
      if (!isWhole)
        element.after(h("p", { class: "quiet" }, `The first ${bytes(maxTextBytes)} of ${bytes(size)}.`));
    } catch (error) {
      if (!isAbort(error)) element.replaceWith(failure(error, load));
    }
  }
  void load();
  return element;
}
