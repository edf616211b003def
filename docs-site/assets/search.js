// The search: loads the index when the field is first used, and lists sections with all words.
(() => {
  const maxResults = 12;
  const root = document.documentElement.dataset.root;
  const search = document.getElementById("search");

  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "Search";
  field.setAttribute("aria-label", "Search the documentation");
  field.autocomplete = "off";
  const results = document.createElement("div");
  results.className = "results";
  results.hidden = true;
  results.setAttribute("aria-live", "polite");
  search.append(field, results);
  search.hidden = false;

  let loading;
  function load() {
    loading ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${root}assets/search-index.js`;
      script.onload = () => resolve(globalThis.searchIndex);
      script.onerror = () => {
        loading = undefined;
        script.remove();
        reject(new Error("The search index could not be loaded."));
      };
      document.head.append(script);
    });
    return loading;
  }

  /** Numbers of the sections with a word that starts with the given one. */
  function sectionsWith(index, start) {
    const found = new Set();
    for (const [word, numbers] of Object.entries(index.words)) {
      if (word.startsWith(start)) for (const number of numbers) found.add(number);
    }
    return found;
  }

  function find(index, query) {
    const words = query.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [];
    const known = words.filter((word) => Object.keys(index.words).some((one) => one.startsWith(word)));
    if (known.length === 0) return [];
    const sets = known.map((word) => sectionsWith(index, word));
    const [first, ...others] = sets;
    const common = [...first].filter((number) => others.every((set) => set.has(number)));
    /** Words in the heading count most, then words in the title of the page. */
    const score = (number) => {
      const [, page, heading] = index.sections[number];
      const rank = (text, weight) =>
        known.filter((word) => text.toLowerCase().includes(word)).length * weight;
      return rank(heading, 3) + rank(page, 2);
    };
    return common.sort((a, b) => score(b) - score(a) || a - b).map((number) => index.sections[number]);
  }

  function show(sections) {
    const list = document.createElement("ul");
    for (const [url, page, heading] of sections.slice(0, maxResults)) {
      const link = document.createElement("a");
      link.href = root + url;
      link.textContent = heading === page ? page : `${heading} – ${page}`;
      const item = document.createElement("li");
      item.append(link);
      list.append(item);
    }
    const note = document.createElement("p");
    note.textContent =
      sections.length === 0
        ? "No section has all these words."
        : sections.length > maxResults
          ? `The first ${maxResults} of ${sections.length} sections`
          : "";
    results.replaceChildren(list, note);
    results.hidden = false;
  }

  async function update() {
    if (field.value.trim().length < 2) {
      results.hidden = true;
      return;
    }
    try {
      show(find(await load(), field.value));
    } catch (error) {
      results.replaceChildren(error.message);
      results.hidden = false;
    }
  }

  field.addEventListener("input", update);
  field.addEventListener("focus", () => void load().catch(() => {}), { once: true });
  search.addEventListener("keydown", (event) => {
    const links = [...results.querySelectorAll("a")];
    const position = links.indexOf(document.activeElement);
    if (event.key === "Escape") {
      results.hidden = true;
      field.focus();
    } else if (event.key === "ArrowDown" && links.length > 0) {
      event.preventDefault();
      links[Math.min(position + 1, links.length - 1)].focus();
    } else if (event.key === "ArrowUp" && position >= 0) {
      event.preventDefault();
      (links[position - 1] ?? field).focus();
    } else if (event.key === "Enter" && event.target === field && links.length > 0) links[0].click();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.focus();
  });
  document.addEventListener("click", (event) => {
    if (!search.contains(event.target)) results.hidden = true;
  });
})();
