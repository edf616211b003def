// Light or dark before the first thing is drawn, so that nothing flashes: the one script that is not a module.
(() => {
  const chosen = localStorage.getItem("store console theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
