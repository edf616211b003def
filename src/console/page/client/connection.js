// Whether the server can be reached. After a failed request it is asked again until it answers, and
// the listeners learn of both changes.

/** @typedef {"online" | "offline"} Connection */

/** @type {Connection} */
let state = "online";
/** @type {Set<(state: Connection) => void>} */
const listeners = new Set();
/** First pause between two attempts; it doubles up to the second. */
const minMilliseconds = 1000;
const maxMilliseconds = 15_000;

/**
 * @param {(state: Connection) => void} listener
 * @param {AbortSignal} [signal] ends the listening
 */
export function watchConnection(listener, signal) {
  listeners.add(listener);
  signal?.addEventListener("abort", () => listeners.delete(listener));
}

/** Call when a request got any response. */
export function noteOnline() {
  change("online");
}

/** Call when a request got no response. */
export function noteOffline() {
  if (state === "offline") return;
  change("offline");
  void retryUntilOnline();
}

async function retryUntilOnline() {
  for (let pause = minMilliseconds; state === "offline"; pause = Math.min(2 * pause, maxMilliseconds)) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    try {
      await fetch("/healthz", { cache: "no-store" });
      noteOnline();
    } catch {
      // Still unreachable.
    }
  }
}

/** @param {Connection} next */
function change(next) {
  if (state === next) return;
  state = next;
  for (const listener of [...listeners]) listener(next);
}
