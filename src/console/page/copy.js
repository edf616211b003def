// Copies a text for the user, and says so.
import { note } from "./notices.js";

/**
 * @param {string} text
 * @param {string} what
 */
export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    note(`Copied the ${what}.`);
  } catch {
    note(`The browser does not let this page copy. The ${what}: ${text}`, "failed");
  }
}
