// Tabs of the settings: facts about the server, and sessions.
import { pageHref } from "../client/router.js";
import { tabs } from "../elements/tabs.js";

/** @param {"settings" | "sessions"} current */
export function settingsTabs(current) {
  return tabs(
    "Settings",
    [
      { id: "settings", label: "About", href: pageHref("settings") },
      { id: "sessions", label: "Sessions", href: pageHref("sessions") },
    ],
    current,
  );
}
