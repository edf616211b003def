// Copies text to the clipboard and shows a toast.
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
    note(`The browser blocked access to the clipboard. The ${what}: ${text}`, "failed");
  }
}
