// The sign-in: exchanges a token, or the answer of an OpenID provider, for a session.
import { ApiError, ask } from "../client/api.js";
import { h } from "../elements/dom.js";

/** @import { ProvidersDocument, SessionDocument, StartedDocument } from "../../wire-session.ts" */

/**
 * @typedef {object} SignInOptions
 * @property {(session: SessionDocument) => void} onSignedIn
 * @property {string} [token] of a link; signs in with it, or asks a visitor who has a session
 * @property {URLSearchParams} [answer] if set, finishes the sign-in with the provider
 * @property {string} [message]
 * @property {unknown} [error] the error because of which the sign-in is shown
 */

/** @param {SignInOptions} options */
export function showSignIn({ onSignedIn, token, answer, message, error }) {
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

  const providers = h("div", { class: "providers", hidden: true });

  /**
   * Shows the error if the step fails.
   *
   * @param {() => Promise<void>} step
   */
  async function attempt(step) {
    button.disabled = true;
    statusText.replaceChildren();
    try {
      await step();
    } catch (refusal) {
      statusText.replaceChildren(...errorNodes(refusal));
      button.disabled = false;
      input.focus();
    }
  }

  /** @param {string} given */
  const signIn = (given) =>
    attempt(async () => onSignedIn(await ask("/api/session", { method: "POST", json: { token: given } })));

  /** @param {string} given */
  const signInByLink = (given) =>
    attempt(async () => {
      try {
        onSignedIn(await ask("/api/session", { method: "POST", json: { token: given, byLink: true } }));
      } catch (refusal) {
        if (!(refusal instanceof ApiError) || refusal.status !== 409) throw refusal;
        const card = replacementCard(refusal, (choice) => {
          card.replaceWith(form);
          if (choice === "link") void signIn(given);
          else void attempt(async () => onSignedIn(await ask("/api/session")));
        });
        form.replaceWith(card);
      }
    });

  /** @param {URLSearchParams} params */
  const finish = (params) => attempt(async () => onSignedIn(await finishSignIn(params)));

  /** @param {string} provider */
  const start = (provider) =>
    attempt(async () => {
      /** @type {StartedDocument} */
      const { url } = await ask("/api/sign-in/start", { method: "POST", json: { provider } });
      location.assign(url);
    });

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
    providers,
    h("label", { for: "token" }, "Token"),
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
  void showProviders(providers, start);
  if (answer !== undefined) void finish(answer);
  else if (token === undefined) input.focus();
  else void signInByLink(token);
}

/**
 * Asks whether a link may replace the session of another user.
 *
 * @param {ApiError} refusal
 * @param {(choice: "link" | "stay") => void} onChosen
 */
function replacementCard(refusal, onChosen) {
  return h(
    "section",
    { class: "card", role: "alert" },
    h("h1", {}, "Use this sign-in link?"),
    h("p", {}, ...errorNodes(refusal)),
    h("button", { class: "primary", type: "button", onclick: () => onChosen("stay") }, "Stay signed in"),
    h("button", { type: "button", onclick: () => onChosen("link") }, "Use the link"),
  );
}

/**
 * Adds a button for each OpenID provider. Without providers, or if they cannot be loaded, tokens
 * still work.
 *
 * @param {HTMLElement} area
 * @param {(provider: string) => Promise<void>} start
 */
async function showProviders(area, start) {
  try {
    /** @type {ProvidersDocument} */
    const { providers } = await ask("/api/sign-in");
    const buttons = providers.map(({ name, title }) =>
      h("button", { type: "button", onclick: () => void start(name) }, `Sign in with ${title}`),
    );
    if (buttons.length === 0) return;
    area.replaceChildren(...buttons, h("p", { class: "quiet" }, "or with a token"));
    area.hidden = false;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

/**
 * @param {URLSearchParams} answer
 * @returns {Promise<SessionDocument>}
 */
async function finishSignIn(answer) {
  const code = answer.get("code");
  if (code === null) {
    const description = answer.get("error_description") ?? answer.get("error") ?? "";
    throw new ApiError(401, {
      code: "Refused",
      message: `The provider did not sign you in: ${description.slice(0, 200)}`,
    });
  }
  const json = { code, state: answer.get("state") ?? "", issuer: answer.get("iss") ?? undefined };
  return ask("/api/sign-in/finish", { method: "POST", json });
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
