// Switches between the light and the dark theme. Default: the system's preference.

const name = "store console theme";

export function switchTheme() {
  const prefersDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = currentTheme();
  const isDark = theme === "system" ? prefersDark : theme === "dark";
  setTheme(isDark ? "light" : "dark");
}

/** @returns {string} "system", "light" or "dark" */
export function currentTheme() {
  return document.documentElement.dataset.theme ?? "system";
}

/** @param {string} theme */
export function setTheme(theme) {
  const { dataset } = document.documentElement;
  if (theme === "light" || theme === "dark") {
    dataset.theme = theme;
    localStorage.setItem(name, theme);
  } else {
    delete dataset.theme;
    localStorage.removeItem(name);
  }
}
