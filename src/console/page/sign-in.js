// The sign-in: exchanges a token for a session.
import { ApiError, ask } from "./api.js";
import { h } from "./dom.js";

/** @import { SessionDocument } from "../wire-session.ts" */

/**
 * @typedef {object} SignInOptions
 * @property {(session: SessionDocument) => void} onSignedIn
 * @property {string} [token] if set, signs in with it immediately
 * @property {string} [message]
 * @property {unknown} [error] the error because of which the sign-in is shown
 */

/** @param {SignInOptions} options */
export function showSignIn({ onSignedIn, token, message, error }) {
  document.title = "Sign in · Store console";
  const statusText = h("p", { class: "error-text", role: "alert" });
  const input = h("input", {
    id: "token",
    type: "password",
    name: "token",
    autocomplete: "off",
    spellcheck: "false",
    required: true,
    placeholder: "sct-…",
    "aria-describedby": "token-help",
  });
  const button = h("button", { class: "primary", type: "submit" }, "Sign in");

  /** @param {string} given */
  async function signIn(given) {
    button.disabled = true;
    statusText.replaceChildren();
    try {
      onSignedIn(await ask("/api/session", { method: "POST", json: { token: given } }));
    } catch (refusal) {
      statusText.replaceChildren(...errorNodes(refusal));
      button.disabled = false;
      input.focus();
    }
  }

  const form = h(
    "form",
    {
      class: "card",
      /** @param {Event} event */
      onsubmit(event) {
        event.preventDefault();
        void signIn(input.value);
      },
    },
    h("img", { src: "/icon.svg", alt: "", width: 40, height: 40 }),
    h("h1", {}, "Store console"),
    h("label", { for: "token" }, "Administrator token"),
    input,
    h(
      "p",
      { id: "token-help", class: "quiet" },
      "Create one on the server: ",
      h("code", {}, "store console token"),
    ),
    insecureWarning(),
    statusText,
    button,
  );
  document.body.replaceChildren(h("main", { class: "sign-in" }, form));
  if (message !== undefined) statusText.replaceChildren(message);
  if (error instanceof ApiError && error.status !== 401) statusText.replaceChildren(...errorNodes(error));
  if (token === undefined) input.focus();
  else void signIn(token);
}

/** Browsers do not store the session's cookie over plain HTTP, except for localhost. */
function insecureWarning() {
  if (isSecureContext) return undefined;
  return h(
    "p",
    { class: "notice", role: "note" },
    "Browsers do not keep a session over plain HTTP. Open the console over HTTPS, " +
      "or on the server itself as http://localhost.",
  );
}

/** @param {unknown} error */
function errorNodes(error) {
  if (!(error instanceof ApiError)) throw error;
  return error.hint === undefined ? [error.message] : [error.message, h("br"), error.hint];
}
