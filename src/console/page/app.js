// Entry point of the page: signs in with the token or provider's answer in the URL, if there is one,
// then shows the sign-in or the console.
import { ApiError, ask, unreachableError, whenSignedOut } from "./client/api.js";
import { watchConnection } from "./client/connection.js";
import { h } from "./elements/dom.js";
import { failure } from "./elements/notices.js";
import { showShell } from "./frame/shell.js";
import { showSignIn } from "./frame/sign-in.js";

/** Returns the token of the URL and removes it there, so that it does not stay in the history. */
function takeToken() {
  const [, token] = /^#token=(.*)$/.exec(location.hash) ?? [];
  if (token !== undefined) history.replaceState(null, "", location.pathname);
  return token;
}

/** Returns the answer of an OpenID provider in the URL and removes it there. */
function takeAnswer() {
  if (location.pathname !== "/signed-in") return undefined;
  const params = new URLSearchParams(location.search);
  history.replaceState(null, "", "/");
  return params.has("code") || params.has("error") ? params : undefined;
}

/** @param {string} [token] */
async function begin(token) {
  const answer = takeAnswer();
  if (answer !== undefined) {
    showSignIn({ answer, onSignedIn: showShell });
    return;
  }
  if (token !== undefined) {
    showSignIn({ token, onSignedIn: showShell });
    return;
  }
  try {
    showShell(await ask("/api/session"));
  } catch (error) {
    if (error instanceof ApiError && error.status === 0) showUnreachable();
    else showSignIn({ error, onSignedIn: showShell });
  }
}

/** Shows that the server cannot be reached, and starts again once it answers. */
function showUnreachable() {
  const controller = new AbortController();
  const restart = () => {
    controller.abort();
    void begin();
  };
  watchConnection((state) => {
    if (state === "online") restart();
  }, controller.signal);
  document.title = "Unreachable · Store console";
  document.body.replaceChildren(h("main", {}, failure(unreachableError(), restart)));
}

whenSignedOut(() => {
  if (document.querySelector(".sign-in") === null) {
    showSignIn({ message: "Your session has ended. Sign in again to continue.", onSignedIn: showShell });
  }
});
// A sign-in link may be opened in a tab that already shows the console.
addEventListener("hashchange", () => {
  const token = takeToken();
  if (token !== undefined) void begin(token);
});
void begin(takeToken());
