// Sets the theme before the first paint, to avoid a flash. Not a module, since modules run later.
(() => {
  const chosen = localStorage.getItem("store console theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
