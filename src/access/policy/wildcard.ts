// Matches texts with patterns in which `*` stands for any characters and `?` for one.

const wildcard = /[*?]/;

/** Does not backtrack further than to the last star, so that no pattern takes exponential time. */
export function matchesWildcard(pattern: string, text: string): boolean {
  const first = pattern.search(wildcard);
  if (first === -1) return pattern === text;
  if (first === pattern.length - 1 && pattern[first] === "*") return text.startsWith(pattern.slice(0, first));
  let [p, t, star, resume] = [0, 0, -1, 0];
  while (t < text.length) {
    if (p < pattern.length && pattern[p] === "*") {
      star = p++;
      resume = t;
    } else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (star !== -1) {
      p = star + 1;
      t = ++resume;
    } else return false;
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}

export function hasWildcard(pattern: string): boolean {
  return wildcard.test(pattern);
}
