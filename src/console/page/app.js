// Where the page begins: signs in with a token from the address when there is one, and shows either the sign-in or
// the console.
import { ask, whenSignedOut } from "./api.js";
import { showShell } from "./shell.js";
import { showSignIn } from "./sign-in.js";

/** Out of the address at once, so that it stays in no history and on no screen. */
function takeToken() {
  const [, token] = /^#token=(.*)$/.exec(location.hash) ?? [];
  if (token !== undefined) history.replaceState(null, "", location.pathname);
  return token;
}

/** @param {string} [token] */
async function begin(token) {
  if (token !== undefined) {
    showSignIn({ token, onSignedIn: showShell });
    return;
  }
  try {
    showShell(await ask("/api/session"));
  } catch (error) {
    showSignIn({ error, onSignedIn: showShell });
  }
}

whenSignedOut(() => {
  if (document.querySelector(".sign-in") === null) {
    showSignIn({ message: "Your session is over. Sign in again to go on.", onSignedIn: showShell });
  }
});
// A sign-in link may be opened in a tab that shows the console already.
addEventListener("hashchange", () => {
  const token = takeToken();
  if (token !== undefined) void begin(token);
});
void begin(takeToken());
