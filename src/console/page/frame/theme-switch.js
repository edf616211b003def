// Switches between the light and the dark theme. Default: the system's preference.

const name = "store console theme";

export function switchTheme() {
  const { dataset } = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const isDark = dataset.theme === undefined ? prefersDark : dataset.theme === "dark";
  dataset.theme = isDark ? "light" : "dark";
  localStorage.setItem(name, dataset.theme);
}
